package jobtree

import "slices"

// Touched tells which parts of a [State] a step may have changed.
type Touched struct {
	Config    bool // the configuration, or what is added to tokens
	Servers   bool
	Instances bool
	Leader    bool
	Necessary bool // or processing
	Epoch     bool
	Barriers  bool
	Owners    bool  // who owns an item, or whether one asks for a claimant
	Items     []int // in ascending order, each once
}

// addItem notes an item. Most steps come in runs of one item's nodes.
func (t *Touched) addItem(item int) {
	if n := len(t.Items); n == 0 || t.Items[n-1] != item {
		t.Items = append(t.Items, item)
	}
}

// settle puts the items in order; paths sort "10" before "2".
func (t *Touched) settle() {
	slices.Sort(t.Items)
	t.Items = slices.Compact(t.Items)
}
