package clustertest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// problem is a reason why an assertion does not hold.
type problem struct {
	at   time.Time // around which to look
	text string
}

// EveryFireRanOnce fails the test unless each of [Cluster.Fires] had exactly one execution that ran to its end or still
// runs. Executions that a crash or the loss of a session cut short do not count, nor those that made room with work left, which
// is [job.ErrYielded]: their rerun does. Whether the executions succeeded
// does not matter; see [Cluster.NothingFailed]. It also fails the test if there was no fire at all.
func (c *Cluster) EveryFireRanOnce(name string) {
	c.tb.Helper()
	c.known(name, "EveryFireRanOnce")
	due := c.book.due(name)
	if len(due) == 0 {
		c.fatalf("EveryFireRanOnce: %q had no fire since its first instance started, so there is nothing to say of it\n\n%s", name, c.story(name, time.Time{}))
	}
	var problems []problem
	for _, f := range c.missed(name) {
		problems = append(problems, problem{f.Time, f.String() + ": " + c.whyMissed(name, f)})
	}
	problems = append(problems, c.doubles(name)...)
	slices.SortStableFunc(problems, func(a, b problem) int { return a.at.Compare(b.at) })
	c.fail(name, fmt.Sprintf("not every fire of %q ran once", name), problems)
}

// NoFireRanTwice fails the test if, for one fire, more than one execution of an item ran to its end. This happens if
// code finishes although its context has ended, or if its end did not reach the registry in time. Fencing tokens
// protect your data then; see [job.ShardingContext.Token].
func (c *Cluster) NoFireRanTwice(name string) {
	c.tb.Helper()
	c.known(name, "NoFireRanTwice")
	c.fail(name, fmt.Sprintf("fires of %q ran twice", name), c.doubles(name))
}

// MissedExactly fails the test unless [Cluster.MissedFires] are exactly these, in any order. Without arguments, no fire
// may have been missed.
func (c *Cluster) MissedExactly(name string, fires ...Fire) {
	c.tb.Helper()
	c.known(name, "MissedExactly")
	var problems []problem
	want := make(map[fireKey]bool)
	for _, f := range fires {
		want[keyOfFire(f)] = true
	}
	got := make(map[fireKey]bool)
	for _, f := range c.missed(name) {
		got[keyOfFire(f)] = true
		if !want[keyOfFire(f)] {
			problems = append(problems, problem{f.Time, f.String() + " should have run: " + c.whyMissed(name, f)})
		}
	}
	for _, f := range fires {
		if got[keyOfFire(f)] {
			continue
		}
		text := " should have been missed, and was not due"
		if ran := c.ranFor(name)[keyOfFire(f)]; len(ran) > 0 {
			text = " should have been missed, and ran on " + places(ran)
		} else if on := c.waiting(name)[keyOfFire(f)]; on != "" {
			text = " should have been missed, and waits for its turn on " + on
		}
		problems = append(problems, problem{f.Time, f.String() + text})
	}
	slices.SortStableFunc(problems, func(a, b problem) int { return a.at.Compare(b.at) })
	c.fail(name, fmt.Sprintf("other fires of %q were missed than should have been", name), problems)
}

// RanOn fails the test unless the item ran for the fire of this time on the instance, and nowhere else. The execution
// has ended or still runs.
func (c *Cluster) RanOn(name string, item int, fire time.Time, on *Instance) {
	c.tb.Helper()
	c.known(name, "RanOn")
	f := Fire{Item: item, Time: fire.UTC()}
	ran := c.ranFor(name)[keyOfFire(f)]
	var problems []problem
	switch {
	case len(ran) == 0:
		problems = []problem{{fire, f.String() + ": " + c.whyMissed(name, f)}}
	case len(ran) > 1 || ran[0].Instance != on.name:
		problems = []problem{{fire, fmt.Sprintf("%s: ran on %s", f, places(ran))}}
	}
	c.fail(name, fmt.Sprintf("%s of %q did not run on %s alone", f, name, on.name), problems)
}

// NothingFailed fails the test if the code of an execution returned an error, panicked or took longer than
// the job allows. An execution that stopped because its context had ended, or made room, has not failed, and neither has one
// that is to be tried again, or was with success.
func (c *Cluster) NothingFailed(name string) {
	c.tb.Helper()
	c.known(name, "NothingFailed")
	var problems []problem
	for _, e := range c.book.ran(name) {
		if e.Outcome == Failed {
			problems = append(problems, problem{e.Began, fmt.Sprintf("item %d, began at %s on %s: %v", e.Item, clockTime(e.Began), e.Instance, e.Err)})
		}
	}
	c.fail(name, fmt.Sprintf("executions of %q failed", name), problems)
}

// doubles tells which fires ran more than once.
func (c *Cluster) doubles(name string) []problem {
	ran := c.ranFor(name)
	var problems []problem
	for _, f := range twice(ran) {
		executions := ran[keyOfFire(f)]
		problems = append(problems, problem{f.Time, fmt.Sprintf("%s: ran %d times, on %s", f, len(executions), places(executions))})
	}
	return problems
}

// whyMissed tells what is known of a fire that was missed.
func (c *Cluster) whyMissed(name string, f Fire) string {
	for _, e := range slices.Backward(c.book.ran(name)) {
		switch {
		case !e.of(f):
		case e.Outcome == Crashed:
			return "did not run, it crashed on " + e.Instance
		default:
			return fmt.Sprintf("did not run, it was cut short on %s: %v", e.Instance, e.Err)
		}
	}
	if on := c.waiting(name)[keyOfFire(f)]; on != "" {
		return "did not run yet, it waits for its turn on " + on
	}
	return "did not run"
}

// places lists the instances of executions, in order.
func places(executions []Execution) string {
	var names []string
	for _, e := range executions {
		names = append(names, e.Instance)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// shownProblems is how many problems a failure lists.
const shownProblems = 10

// fail fails the test if there are problems, with the story around the first of them.
func (c *Cluster) fail(name, what string, problems []problem) {
	c.tb.Helper()
	if len(problems) == 0 {
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s:\n", what)
	for _, p := range problems[:min(len(problems), shownProblems)] {
		fmt.Fprintf(&text, "  %s\n", p.text)
	}
	if more := len(problems) - shownProblems; more > 0 {
		fmt.Fprintf(&text, "  and %d more\n", more)
	}
	text.WriteString("\n" + c.story(name, problems[0].at))
	c.tb.Fatal(text.String())
}
