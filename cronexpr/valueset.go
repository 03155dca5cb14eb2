package cronexpr

import "math/bits"

// valueSet holds the values of one field, counted from the field's smallest. It has room for the
// years 1970 to 2099.
type valueSet [3]uint64

func (s *valueSet) add(n int) { s[n/64] |= 1 << (n % 64) }

// from returns the smallest value that is n or above, or -1.
func (s *valueSet) from(n int) int {
	for i := n / 64; i < len(s); i++ {
		if at := bitFrom(s[i], n-i*64); at < 64 {
			return i*64 + at
		}
	}
	return -1
}

// bitFrom returns the lowest bit of set that is n or above, or 64.
func bitFrom(set uint64, n int) int {
	n = max(n, 0)
	return bits.TrailingZeros64(set >> n << n)
}
