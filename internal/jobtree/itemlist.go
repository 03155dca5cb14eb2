package jobtree

// itemList holds the nodes of items by number, without gaps, up to the last item of which there are
// any. So it depends on what is there alone, and not on what was.
type itemList []itemNodes

// get returns the nodes of an item; nil if there are none.
func (l itemList) get(item int) *itemNodes {
	if item < 0 || item >= len(l) {
		return nil
	}
	return &l[item]
}

// grown returns the list with room for an item.
func (l itemList) grown(item int) itemList {
	n := item + 1
	if n <= len(l) {
		return l
	}
	if n > cap(l) {
		// Tightly: most jobs have a few items, and the rest grows but once.
		larger := make(itemList, len(l), max(n, len(l)+len(l)/4))
		copy(larger, l)
		l = larger
	}
	return l[:n]
}

// trimmed returns the list without the empty places at its end.
func (l itemList) trimmed() itemList {
	n := len(l)
	for n > 0 && l[n-1] == (itemNodes{}) {
		n--
	}
	switch {
	case n == 0:
		return nil
	case cap(l) > 4*n+16:
		return append(itemList(nil), l[:n]...)
	default:
		return l[:n]
	}
}
