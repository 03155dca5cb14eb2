package checker

import (
	"fmt"
	"strings"
	"time"
)

// Guarantee is what a cluster promises.
type Guarantee uint8

// The guarantees.
const (
	// OneHolder: at no time do two live sessions run one item.
	OneHolder Guarantee = iota + 1
	// GrowingToken: every execution has a token larger than those of its item before, and only the
	// execution that has it can end it.
	GrowingToken
	// OneExecution: a fire of an item is executed at most once, reruns of lost executions apart, and
	// at its time.
	OneExecution
	// NothingForgotten: a lost execution is run again exactly once if failover is on, and nothing else
	// is.
	NothingForgotten
	// NoStall: every enabled item has a live owner soon after each change, and each of its fires is
	// executed, as soon as nothing keeps the item from it.
	NoStall
	// StoppedWork: code whose session is over has been told so before others begin, and its process
	// takes part again.
	StoppedWork
	// GracefulStop: a stop hands over at once and interrupts nothing before its time.
	GracefulStop
	// NoLeftovers: nothing of a process outlives it in the registry.
	NoLeftovers
	// Intent: what an operator excluded is not run, nor more at once than the settings allow.
	Intent
	// Checkpoint: a confirmed checkpoint is never lost, and never replaced by an older one.
	Checkpoint
)

// String returns the guarantee in a few words.
func (g Guarantee) String() string {
	words := [...]string{
		"?", "one holder", "growing token", "one execution", "nothing forgotten", "no stall",
		"stopped work", "graceful stop", "no leftovers", "operator's intent",
		"checkpoint",
	}
	if int(g) >= len(words) {
		g = 0
	}
	return words[g]
}

// NoItem is the Item of findings that concern none.
const NoItem = -1

// Finding is a violation.
type Finding struct {
	Guarantee Guarantee
	At        time.Time // when it shows
	Item      int       // or NoItem
	Text      string    // what is wrong, in one sentence
	Proof     []string  // the events that show it, in order
}

// String returns the finding with its proof, on several lines.
func (f Finding) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s at %s", f.Guarantee, clock(f.At))
	if f.Item != NoItem {
		fmt.Fprintf(&text, ", item %d", f.Item)
	}
	fmt.Fprintf(&text, ": %s", f.Text)
	for _, event := range f.Proof {
		text.WriteString("\n\t" + event)
	}
	return text.String()
}

// clock shows times as histories need them: within a day, to the microsecond.
func clock(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("15:04:05.000000")
}
