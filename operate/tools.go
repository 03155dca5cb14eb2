package operate

import (
	"maps"
	"slices"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// invalid refuses what is not allowed, by what says so.
func invalid(err error) *Refusal {
	r := refuse(CauseInvalid, "correct it", "it is not allowed")
	r.Err = err
	return r
}
