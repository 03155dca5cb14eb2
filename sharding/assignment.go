package sharding

// Assignment says which instance each sharding item belongs to: the index is the item, the value is
// the instance's id, and "" is an item that belongs to none.
type Assignment []string

// NewAssignment returns an assignment of total items that belong to none.
func NewAssignment(total int) Assignment { return make(Assignment, total) }

// Instance returns the instance that item belongs to: "" if none, or if there is no such item.
func (a Assignment) Instance(item int) string {
	if item < 0 || item >= len(a) {
		return ""
	}
	return a[item]
}

// Items returns the items of one instance in ascending order, nil if it has none. It looks at every
// item; for many instances use [Assignment.ByInstance].
func (a Assignment) Items(instance string) []int {
	var items []int
	for item, owner := range a {
		if owner == instance {
			items = append(items, item)
		}
	}
	return items
}

// ByInstance returns the items of every instance that has any, each in ascending order. Items that
// belong to none are under "".
func (a Assignment) ByInstance() map[string][]int {
	items := make(map[string][]int)
	for item, owner := range a {
		items[owner] = append(items[owner], item)
	}
	return items
}
