package fileindex

import "hash/fnv"

// ItemOf tells which of total items the file at a path belongs to. The path is relative to the root
// of the tree and has forward slashes on every system. A total below 1 counts as 1.
func ItemOf(path string, total int) int {
	return int(mix(pathHash(path)) % uint64(max(total, 1)))
}

func pathHash(path string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // a hash never returns an error
	return h.Sum64()
}

// mix spreads the bits of x: similar paths have similar hashes, and neither remainders nor sums of
// those are even. It maps different numbers to different ones.
func mix(x uint64) uint64 {
	x = (x ^ x>>31) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xd1b54a32d192ed03
	return x ^ x>>32
}
