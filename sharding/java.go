package sharding

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// sorted returns the distinct ids in the order in which Elastic-Job lists instances: descending as
// Java compares strings.
func sorted(ids []string) []string {
	s := slices.Clone(ids)
	slices.SortFunc(s, func(a, b string) int { return compareJava(b, a) })
	return slices.Compact(s)
}

// compareJava orders strings as java.lang.String.compareTo does: by UTF-16 code units. That is Go's
// order by bytes, except that characters beyond the basic plane sort before U+E000..U+FFFF. Text
// that is no UTF-8 can look the same to Java; bytes then decide, so that the order is total.
func compareJava(a, b string) int {
	restA, restB := a, b
	for restA != "" && restB != "" {
		runeA, sizeA := utf8.DecodeRuneInString(restA)
		runeB, sizeB := utf8.DecodeRuneInString(restB)
		if runeA != runeB {
			return cmp.Compare(codeUnits(runeA), codeUnits(runeB))
		}
		restA, restB = restA[sizeA:], restB[sizeB:]
	}
	return cmp.Or(cmp.Compare(len(restA), len(restB)), strings.Compare(a, b))
}

// codeUnits packs the one or two UTF-16 code units of r into a number that compares as they do.
func codeUnits(r rune) uint32 {
	if utf16.RuneLen(r) == 1 {
		return uint32(r) << 16
	}
	high, low := utf16.EncodeRune(r)
	return uint32(high)<<16 | uint32(low)
}

// hashJava is java.lang.String.hashCode: h = 31*h + c over the UTF-16 code units, wrapping around in
// 32 bits.
func hashJava(s string) int32 {
	var hash int32
	for _, unit := range utf16.Encode([]rune(s)) {
		hash = 31*hash + int32(unit)
	}
	return hash
}

// offsetJava is Math.abs(hash) % n, with a result in 0..n-1 also where Java has a negative one: the
// absolute value of -2³¹ does not fit into 32 bits, and Java leaves it negative.
func offsetJava(hash int32, n int) int {
	if hash == math.MinInt32 {
		return (int(hash)%n + n) % n
	}
	return max(int(hash), -int(hash)) % n
}
