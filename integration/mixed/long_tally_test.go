package mixed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// execution is a run of an item of one job, on either side.
type execution struct {
	java     bool
	instance string
	item     int
	began    time.Time
	ended    time.Time // when the code returned, was told to, or its process died
	died     bool
	fire     time.Time  // of Go
	source   job.Source // of Go
}

// planned tells whether Go ran it for a fire that it took for one that had not run.
func (e execution) planned() bool {
	return !e.java && (e.source == job.Scheduled || e.source == job.Misfire)
}

// window is a stretch of time, without its end.
type window struct{ from, until time.Time }

func (w window) has(t time.Time) bool { return !t.Before(w.from) && t.Before(w.until) }

// calm is a time in which nothing had been done to anybody for long enough, and no item changed hands.
type calm struct {
	window
	java []bool // which items Java had
}

// run is what a long run had of one job.
type run struct {
	executions []execution // of both sides, in any order
	items      int
	period     time.Duration // between two fires, which are at its multiples
	failover   bool
	whole      window   // whose fires count
	calm       []calm   // in order
	stalls     []window // in which the machine gave some process no processor, or the store was slow
	hung       []hang
}

// hang is how long a Java instance hung at its exit, until it was killed.
type hang struct {
	window
	instance string
}

// stalled tells whether what comes to pass about a fire may be due to the machine.
func (r run) stalled(fire time.Time) bool {
	return slices.ContainsFunc(r.stalls, func(w window) bool {
		return w.from.Before(fire.Add(r.period)) && w.until.After(fire.Add(-2*r.period))
	})
}

// hangs tells whether an item did not run because the instance that had it hung. last is the run of the item before the fire.
func (r run) hangs(fire time.Time, last *execution) bool {
	return last != nil && slices.ContainsFunc(r.hung, func(h hang) bool {
		return h.instance == last.instance && h.from.Before(fire.Add(r.period)) && h.until.After(fire.Add(-2*r.period))
	})
}

// tally says what became of the fires of jobs that both sides ran.
//
// Java does not tell for which fire it runs an item. A run that begins within a third of the period is taken for
// that of the fire, and one that begins later for a rerun or a missed fire that Java makes up, be it as it may.
type tally struct {
	java   int
	source map[job.Source]int // of Go's
	fires  int                // each of one item

	crossings int // consecutive runs of an item on different sides

	// What runs twice: fires that both sides ran, or two Java instances; and runs of one item that were under way at
	// once, on both sides or in two Java instances.
	both, twiceInJava, overlaps, overlapsInJava int
	// What does not run: fires at which the item was still under way, and others that nobody ran, of which later runs
	// made up some.
	underWay, missed, madeUp int
	longest                  time.Duration // without the begin of a run of an item

	// What became of executions that died with their processes, of jobs with failover.
	died      map[bool]int // in Java = true
	again     []time.Duration
	notAgain  map[bool]int
	forgotten []string // those that were not seen again

	inCalm    []string // what was not as it should be though nothing had been done to anybody
	calmFires int
	// missedInJava are fires that nobody ran in a calm, of items that Java had: Quartz passes over a fire for which it is
	// late by a millisecond, and Java makes it up at some later one, if there is one. missedInStalls are those that
	// nobody ran about a time when the machine stood still, and missedInHangs those of items of a Java instance that hung at
	// its exit; they are no faults of anybody.
	missedInJava, missedInStalls, missedInHangs int
}

func newTally() *tally {
	return &tally{source: make(map[job.Source]int), died: make(map[bool]int), notAgain: make(map[bool]int)}
}

// add counts what there was of one job.
func (t *tally) add(r run) {
	byItem := make(map[int][]execution)
	for _, e := range r.executions {
		byItem[e.item] = append(byItem[e.item], e)
		if e.java {
			t.java++
		} else {
			t.source[e.source]++
		}
	}
	for item := range r.items {
		executions := byItem[item]
		slices.SortFunc(executions, func(a, b execution) int { return a.began.Compare(b.began) })
		t.addItem(r, item, executions)
	}
}

func (t *tally) addItem(r run, item int, executions []execution) {
	previous := r.whole.from
	for i, e := range executions {
		if i > 0 && executions[i-1].java != e.java {
			t.crossings++
		}
		if r.whole.has(e.began) {
			t.longest = max(t.longest, e.began.Sub(previous))
			previous = e.began
		}
		if e.died && r.failover {
			t.rerun(r, e, executions[i+1:])
		}
		t.overlap(r, e, executions[i+1:])
	}
	for fire := r.whole.from.Truncate(r.period).Add(r.period); !fire.Add(r.period).After(r.whole.until); fire = fire.Add(r.period) {
		t.addFire(r, item, fire, executions)
	}
}

// addFire says what became of a fire of an item.
func (t *tally) addFire(r run, item int, fire time.Time, executions []execution) {
	byGo, inTime := 0, make(map[string]bool)
	byJava := 0
	var next, previous *execution // that began after all that may be this fire's, and before
	underWay := false
	for i, e := range executions {
		underWay = underWay || e.began.Before(fire) && e.ended.After(fire)
		switch {
		case e.planned() && e.fire.Equal(fire):
			byGo++
		case e.java && e.began.Truncate(r.period).Equal(fire):
			if byJava++; e.began.Sub(fire) < r.period/3 {
				inTime[e.instance] = true
			}
		case next == nil && !e.began.Before(fire.Add(r.period)) && (e.java || e.planned()):
			next = &executions[i]
		case e.began.Before(fire):
			previous = &executions[i]
		}
	}
	t.fires++
	in := slices.IndexFunc(r.calm, func(c calm) bool { return c.has(fire) && !fire.Add(r.period).After(c.until) })
	calm := in >= 0
	if calm {
		t.calmFires++
	}
	stalled := r.stalled(fire)
	fault := func(text string) {
		if calm && !stalled {
			t.inCalm = append(t.inCalm, fmt.Sprintf("item %d, fire of %s: %s%s", item, fire.UTC().Format(time.TimeOnly), text, around(fire, r.period, executions)))
		}
	}
	switch {
	case byGo > 0 && len(inTime) > 0:
		t.both++
		fault("it ran on both sides")
	case len(inTime) > 1:
		t.twiceInJava++
		fault("it ran in two Java instances")
	case byGo+byJava == 0 && underWay:
		t.underWay++
	case byGo+byJava == 0:
		t.missed++
		if next != nil && (next.source == job.Misfire || next.java && next.began.Sub(next.began.Truncate(r.period)) >= r.period/3) {
			t.madeUp++
		}
		inJava := calm && r.calm[in].java[item] && (previous == nil || previous.java) && (next == nil || next.java)
		switch {
		case stalled:
			t.missedInStalls++
		case r.hangs(fire, previous):
			t.missedInHangs++
		case inJava:
			t.missedInJava++
		default:
			fault("nobody ran it")
		}
	}
}

// around names the executions of an item about a fire, for messages.
func around(fire time.Time, period time.Duration, executions []execution) string {
	var text strings.Builder
	for _, e := range executions {
		if e.began.After(fire.Add(-3*period)) && e.began.Before(fire.Add(3*period)) {
			fmt.Fprintf(&text, "\n  %s to %s in %s", e.began.UTC().Format("05.000"), e.ended.UTC().Format("05.000"), e.instance)
			if !e.java {
				fmt.Fprintf(&text, ", %s of %s", e.source, e.fire.UTC().Format("05"))
			}
		}
	}
	return text.String()
}

// overlap counts the runs that began while another one of the item was under way elsewhere. Among Go instances
// package checker judges that.
func (t *tally) overlap(r run, e execution, later []execution) {
	for _, o := range later {
		if o.instance == e.instance || !e.java && !o.java || !o.began.Before(e.ended) {
			continue
		}
		if e.java && o.java {
			t.overlapsInJava++
		} else {
			t.overlaps++
		}
		if !r.stalled(o.began) && slices.ContainsFunc(r.calm, func(c calm) bool { return c.has(e.began) && c.has(o.began) }) {
			t.inCalm = append(t.inCalm, fmt.Sprintf("item %d ran in %s from %s on, and in %s from %s on", e.item,
				e.instance, e.began.UTC().Format(time.StampMilli), o.instance, o.began.UTC().Format(time.StampMilli)))
		}
	}
}

// rerun looks for the execution that ran again what died. Of Go it says so itself; of Java it is any of the item
// before all was well again, and not at a fire unless the item had been another's.
func (t *tally) rerun(r run, died execution, later []execution) {
	t.died[died.java]++
	until := r.whole.until
	if i := slices.IndexFunc(r.calm, func(c calm) bool { return c.from.After(died.ended) }); i >= 0 {
		until = r.calm[i].from
	}
	for _, e := range later {
		if e.began.Before(died.ended) || e.began.After(until) {
			continue
		}
		if e.source == job.Failover && (died.java || e.fire.Equal(died.fire)) || e.java && e.instance != died.instance {
			t.again = append(t.again, e.began.Sub(died.ended))
			return
		}
	}
	t.notAgain[died.java]++
	t.forgotten = append(t.forgotten, fmt.Sprintf("item %d, which died in %s:%s", died.item, died.instance, around(died.ended, 2*r.period, slices.Concat([]execution{died}, later))))
}

// per tells a number as a share of fires.
func (t *tally) per(n int) string {
	return fmt.Sprintf("%d (%.2f %%)", n, 100*float64(n)/float64(max(1, t.fires)))
}

// String tells all of it, on several lines.
func (t *tally) String() string {
	ofGo, bySource := 0, ""
	for _, source := range slices.Sorted(maps.Keys(t.source)) {
		ofGo += t.source[source]
		bySource += fmt.Sprintf(", %d %s", t.source[source], source)
	}
	return fmt.Sprintf("  %d executions in Java, %d in Go%s\n", t.java, ofGo, bySource) +
		fmt.Sprintf("  %d fires of items; %d times the next run of an item was on the other side\n", t.fires, t.crossings) +
		fmt.Sprintf("  ran twice: on both sides %s, in two Java instances %s\n", t.per(t.both), t.per(t.twiceInJava)) +
		fmt.Sprintf("  under way twice at once: on both sides %s, in two Java instances %s\n", t.per(t.overlaps), t.per(t.overlapsInJava)) +
		fmt.Sprintf("  did not run: %s as the item was under way, and else %s, %d of them while the machine stood still and %d while their instance hung; a later run made up %d; longest without a run %s\n",
			t.per(t.underWay), t.per(t.missed), t.missedInStalls, t.missedInHangs, t.madeUp, t.longest.Round(10*time.Millisecond)) +
		fmt.Sprintf("  died with failover on: %d in Go, %d in Java; ran again after %s; not seen again: %d of Go, %d of Java\n",
			t.died[false], t.died[true], spread(t.again), t.notAgain[false], t.notAgain[true]) +
		fmt.Sprintf("  in calm: %d fires, %d faults; %d were missed where Java had the item", t.calmFires, len(t.inCalm), t.missedInJava)
}

// spread tells the middle and the longest of some times.
func spread(times []time.Duration) string {
	if len(times) == 0 {
		return "(none)"
	}
	times = slices.SortedFunc(slices.Values(times), cmp.Compare)
	return fmt.Sprintf("p50 %s, max %s (%d)", times[len(times)/2].Round(10*time.Millisecond), times[len(times)-1].Round(10*time.Millisecond), len(times))
}

func TestTheTally(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	inGo := func(fire float64, source job.Source) execution {
		return execution{instance: "go", fire: at(fire), source: source, began: at(fire), ended: at(fire + 0.5)}
	}
	inJava := func(instance string, began float64) execution {
		return execution{java: true, instance: instance, began: at(began), ended: at(began + 0.5)}
	}
	died := func(e execution) execution { e.died = true; return e }
	at3 := func(e execution, began float64) execution {
		e.began, e.ended = at(began), at(began+0.5)
		return e
	}
	for _, c := range []struct {
		name       string
		executions []execution // of fires at 3 and 6
		want       tally
		faults     int
	}{
		{"each side runs one", []execution{inGo(3, job.Scheduled), inJava("x", 6.1)}, tally{java: 1, crossings: 1, longest: 3100 * time.Millisecond}, 0},
		{"both sides run one", []execution{inGo(3, job.Scheduled), inJava("x", 3.7), inJava("x", 6.1)}, tally{java: 2, crossings: 1, both: 1, longest: 3 * time.Second}, 1},
		{"at once", []execution{inGo(3, job.Scheduled), inJava("x", 3.2), inJava("x", 6.1)}, tally{java: 2, crossings: 1, both: 1, overlaps: 1, longest: 3 * time.Second}, 2},
		{"two Java instances", []execution{inJava("x", 3), inJava("y", 3.1), inJava("x", 6.1)}, tally{java: 3, twiceInJava: 1, overlapsInJava: 1, longest: 3 * time.Second}, 2},
		{"nobody runs one", []execution{inGo(3, job.Scheduled)}, tally{missed: 1, longest: 3 * time.Second}, 1},
		{"Java runs none of one", []execution{inJava("x", 0.1), inJava("x", 6.1)}, tally{java: 2, missed: 1, missedInJava: 1, longest: 6 * time.Second}, 0},
		{"Java runs none of the last", []execution{inJava("x", 3)}, tally{java: 1, missed: 1, missedInJava: 1, longest: 3 * time.Second}, 0},
		{"Java runs none of the last, which went to Go", []execution{inJava("x", 0.1), inJava("x", 3), at3(inGo(9, job.Misfire), 9)}, tally{java: 2, crossings: 1, missed: 1, madeUp: 1, longest: 2900 * time.Millisecond}, 1},
		{"it is under way", []execution{{java: true, instance: "x", began: at(0), ended: at(3.5)}, inJava("x", 6)}, tally{java: 2, underWay: 1, longest: 6 * time.Second}, 0},
		{"it is made up", []execution{at3(inGo(6, job.Misfire), 6.5)}, tally{missed: 1, madeUp: 1, longest: 6500 * time.Millisecond}, 1},
		{
			"it dies, and runs again",
			[]execution{died(inGo(3, job.Scheduled)), at3(inGo(3, job.Failover), 5), inJava("x", 6)},
			tally{java: 1, crossings: 1, died: map[bool]int{false: 1}, again: []time.Duration{1500 * time.Millisecond}, longest: 3 * time.Second},
			0,
		},
		{
			"it dies in Java, and runs again in Java",
			[]execution{died(inJava("x", 3)), inJava("y", 5), inGo(6, job.Scheduled)},
			tally{java: 2, crossings: 1, died: map[bool]int{true: 1}, again: []time.Duration{1500 * time.Millisecond}, longest: 3 * time.Second},
			0,
		},
		{
			"it dies, and is forgotten",
			[]execution{died(inGo(3, job.Scheduled)), inGo(6, job.Scheduled)},
			tally{died: map[bool]int{false: 1}, notAgain: map[bool]int{false: 1}, longest: 3 * time.Second},
			0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := newTally()
			whole := window{at(0), at(9)}
			got.add(run{executions: c.executions, items: 1, period: 3 * time.Second, failover: true, whole: whole, calm: []calm{{whole, []bool{c.executions[0].java}}}})
			require.Len(t, got.inCalm, c.faults)
			require.Equal(t, 2, got.fires)
			want := newTally()
			maps.Copy(want.died, c.want.died)
			maps.Copy(want.notAgain, c.want.notAgain)
			c.want.died, c.want.notAgain, c.want.source, c.want.fires, c.want.calmFires = want.died, want.notAgain, got.source, 2, 2
			c.want.inCalm, c.want.forgotten = got.inCalm, got.forgotten
			require.Equal(t, c.want, *got)
		})
	}
}

// Fires of items that a Java instance had when it hung are no faults, and those of others are.
func TestAHangIsTold(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	last := execution{java: true, instance: "x", began: start.Add(100 * time.Millisecond), ended: start.Add(time.Second)}
	for instance, want := range map[string]int{"x": 2, "y": 0} {
		whole := window{start, start.Add(9 * time.Second)}
		got := newTally()
		got.add(run{
			executions: []execution{last}, items: 1, period: 3 * time.Second, whole: whole,
			hung: []hang{{window{start.Add(time.Second), start.Add(7 * time.Second)}, instance}},
		})
		require.Equal(t, 2, got.missed)
		require.Equal(t, want, got.missedInHangs, instance)
	}
}
