package jobtree

import "slices"

// find returns what a list in the order of compare has for key; the zero T if nothing.
func find[T any](list []T, key string, compare func(T, string) int) (found T) {
	if i, ok := slices.BinarySearchFunc(list, key, compare); ok {
		found = list[i]
	}
	return found
}

// replace returns the list with value in the place of key, or without that place if !exists. Lists
// rather than maps, as most have few elements and there are very many lists.
func replace[T any](list []T, key string, compare func(T, string) int, value T, exists bool) []T {
	i, found := slices.BinarySearchFunc(list, key, compare)
	switch {
	case found && exists:
		list[i] = value
	case exists:
		list = slices.Insert(withRoom(list), i, value)
	case found:
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// withRoom returns the list with room for one more, growing tightly: a list of three has to stay one.
func withRoom[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return append(make([]T, 0, len(list)+1+len(list)/4), list...)
}
