package simulation_test

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
)

// transcript writes a history down, one line for each thing that happened, so that two runs of a seed
// can be compared byte by byte. What happened in one instant is in a fixed order: which of two
// goroutines that nothing orders went first says nothing about the run.
func transcript(h checker.History) []byte {
	var text bytes.Buffer
	slices.SortFunc(h.Runs, func(a, b checker.Run) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Instance, b.Instance), a.Context.Item-b.Context.Item, cmp.Compare(a.Context.Token, b.Context.Token))
	})
	for _, r := range h.Runs {
		fmt.Fprintf(&text, "run %s %s %+v until %s died %t: %v, cancelled %s: %v\n",
			instant(r.Began), r.Instance, r.Context, instant(r.Ended), r.Died, r.Err, instant(r.Cancelled), r.Cause)
	}
	slices.SortFunc(h.Reports, func(a, b checker.Report) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Instance, b.Instance), a.Item-b.Item, cmp.Compare(a.Token, b.Token))
	})
	for _, r := range h.Reports {
		fmt.Fprintf(&text, "report %s %s item %d token %d refused %t\n", instant(r.At), r.Instance, r.Item, r.Token, r.Refused != nil)
	}
	slices.SortStableFunc(h.Incidents, func(a, b checker.Incident) int {
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Kind, b.Kind))
	})
	for _, i := range h.Incidents {
		fmt.Fprintf(&text, "incident %s until %s %s %s %s\n", instant(i.From), instant(i.Until), i.Kind, i.Instance, i.Delay)
	}
	for _, s := range h.States {
		fmt.Fprintf(&text, "state %s revision %d\n", instant(s.At), s.Step.Snapshot.Revision())
		for _, c := range s.Step.Changes {
			fmt.Fprintf(&text, "\t%s: %q, created %d, session %s\n", c.Path(), c.New.Value, c.New.Created, c.New.Session)
		}
	}
	fmt.Fprintf(&text, "end %s\n", instant(h.End))
	return numberRounds(text.Bytes())
}

var roundName = regexp.MustCompile(`(round\\?":\\?")([A-Z2-7]+)`)

// numberRounds replaces the names of rounds, which are random, by their numbers.
func numberRounds(text []byte) []byte {
	numbers := make(map[string]int)
	return roundName.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := roundName.FindSubmatch(found)
		name := string(parts[2])
		if numbers[name] == 0 {
			numbers[name] = len(numbers) + 1
		}
		return fmt.Appendf(parts[1], "%d", numbers[name])
	})
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format("15:04:05.000000000")
}
