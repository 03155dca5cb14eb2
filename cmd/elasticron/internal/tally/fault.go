package tally

import "fmt"

// FaultKind says which promise a fault breaks.
type FaultKind string

// The kinds of faults; the package documentation has the rules.
const (
	Missed  FaultKind = "missed"
	Doubled FaultKind = "counted twice"
	Wrong   FaultKind = "wrong"
)

// Fault is one breach of the rules.
type Fault struct {
	Kind  FaultKind
	Round int
	Item  int // -1 if it is about the round as a whole
	Text  string
}

// String reads "round 7, item 3: missed: …".
func (f Fault) String() string {
	if f.Item < 0 {
		return fmt.Sprintf("round %d: %s: %s", f.Round, f.Kind, f.Text)
	}
	return fmt.Sprintf("round %d, item %d: %s: %s", f.Round, f.Item, f.Kind, f.Text)
}
