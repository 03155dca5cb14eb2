package operate

import (
	"maps"
	"slices"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// invalid refuses what is not allowed, by what says so.
func invalid(err error) *Refusal {
	return &Refusal{Cause: CauseInvalid, Err: err}
}
