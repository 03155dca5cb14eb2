package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scenario is a load under which contenders are compared.
type scenario struct {
	name      string
	about     string // for the page
	processes int
	work      work
	fires     int // how many are judged, each time
	kill      bool
}

// scenarios are those of the whole comparison, or short ones that show that all can be compared.
func scenarios(short bool) []scenario {
	const s = time.Second
	if short {
		return []scenario{
			{name: "steady", processes: 2, work: work{Jobs: 2, Items: 3, Every: 2 * s}, fires: 2},
			{name: "killed", processes: 2, work: work{Jobs: 1, Items: 1, Every: 2 * s, Lasts: s / 2}, kill: true},
		}
	}
	return []scenario{
		{
			name: "One job", about: "One job of one item, every second, in one process: how late its code begins.",
			processes: 1, work: work{Jobs: 1, Items: 1, Every: s}, fires: 20,
		},
		{
			name: "Steady", about: "20 jobs of 10 items each, every 2 seconds, on three processes.",
			processes: 3, work: work{Jobs: 20, Items: 10, Every: 2 * s}, fires: 8,
		},
		{
			name: "Burst", about: "50 jobs of 20 items each, all due at the same second, every 10 seconds, on three processes.",
			processes: 3, work: work{Jobs: 50, Items: 20, Every: 10 * s}, fires: 2,
		},
		{
			name: "Killed", about: "One job of one item, every 2 seconds, which runs for half a second, on two processes. SIGKILL ends the " +
				"process that runs it, in mid-run; the time until it runs again, elsewhere.",
			processes: 2, work: work{Jobs: 1, Items: 1, Every: 2 * s, Lasts: s / 2}, kill: true,
		},
	}
}

// result is what a contender did in a scenario.
type result struct {
	verdict
	processes, store time.Duration   // of processors, for all executions that were judged
	recovered        []time.Duration // after each kill, sorted
}

// and is the result of both.
func (r result) and(other result) result {
	recovered := append(slices.Clone(r.recovered), other.recovered...)
	slices.Sort(recovered)
	return result{r.verdict.and(other.verdict), r.processes + other.processes, r.store + other.store, recovered}
}

// settle is how long processes have to share their work before anything is judged.
const settle = 5 * time.Second

// play has a contender go through the scenario once.
func (s scenario) play(t *testing.T, c contender) (r result) {
	t.Helper()
	// As a subtest, so that its processes end with it, before the next contender's turn.
	t.Run(s.name+"/"+c.name, func(t *testing.T) {
		started := c.start(t, s.processes, s.work)
		if s.kill {
			r.recovered = []time.Duration{started.recover(t, s.work)}
			return
		}
		from := time.Now().Add(settle).Truncate(s.work.Every).Add(s.work.Every)
		to := from.Add(time.Duration(s.fires) * s.work.Every)
		// Half a period before a fire is when least happens, unless the period is long: then just before it.
		quiet := min(s.work.Every/2, time.Second)
		time.Sleep(time.Until(from.Add(-quiet)))
		processes, store := started.cpu(t)
		time.Sleep(time.Until(to.Add(-quiet)))
		processesAfter, storeAfter := started.cpu(t)
		r.processes, r.store = processesAfter-processes, storeAfter-store
		r.verdict = judge(s.work, started.ran(), from, to)
	})
	return r
}

// recover kills the process that runs the work's one item and returns how long it took until the item ran elsewhere.
func (c *cluster) recover(t *testing.T, w work) time.Duration {
	t.Helper()
	time.Sleep(settle)
	var victim process
	require.Eventually(t, func() bool {
		victim = slices.MaxFunc(c.processes, func(a, b process) int { return lastOf(a).Compare(lastOf(b)) })
		return time.Since(lastOf(victim)) < w.Lasts*3/4 // so that it still runs when the signal comes
	}, patience, 5*time.Millisecond, "the item does not run, or nobody notices in time that it does")
	killed := time.Now()
	victim.Kill()
	var again time.Time
	require.Eventually(t, func() bool {
		for _, p := range c.processes {
			if p != victim && lastOf(p).After(killed) {
				again = lastOf(p)
			}
		}
		return !again.IsZero()
	}, patience, 5*time.Millisecond, "the item never ran again")
	return again.Sub(killed)
}

// lastOf is when something last began in a process, the zero time if nothing did.
func lastOf(p process) time.Time {
	var last time.Time
	for _, r := range p.Ran() {
		if r.At.After(last) {
			last = r.At
		}
	}
	return last
}
