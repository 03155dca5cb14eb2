//go:build linux

package process_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// moment is a time by two clocks: the one that people set and jobs fire by, and the kernel's own, which
// nobody sets and all processes of the machine share.
type moment struct {
	Wall time.Time     `json:"wall"`
	Boot time.Duration `json:"boot"`
}

func now() moment { return moment{time.Now().Round(0), bootTime()} }

func bootTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// origin is the time of the wall clock at which the kernel's stood at zero.
var origin = findOrigin()

// findOrigin reads both clocks several times, and trusts the reading that was disturbed the least.
func findOrigin() time.Time {
	var best time.Time
	least := time.Duration(1<<63 - 1)
	for range 20 {
		before, wall := bootTime(), time.Now().Round(0)
		if took := bootTime() - before; took < least {
			least, best = took, wall.Add(-before-took/2)
		}
	}
	return best
}

// time returns the moment on the axis of a history: by the kernel's clock, as the wall clock would show
// it had nobody set it since the test began.
func (m moment) time() time.Time { return origin.Add(m.Boot) }

// drift tells how far the wall clock had been moved by then.
func (m moment) drift() time.Duration { return m.Wall.Sub(m.time()) }

// correctTimes corrects when states came to be. The recording tells when it heard of them, which may be later
// than the process did that brought them about; whatever a process did after a commit proves that it
// was done by then.
func correctTimes(h checker.History) {
	proof := make(map[registry.Revision]time.Time)
	prove := func(r registry.Revision, at time.Time) {
		if before, ok := proof[r]; r != 0 && (!ok || at.Before(before)) {
			proof[r] = at
		}
	}
	for _, run := range h.Runs {
		prove(registry.Revision(run.Context.Token), run.Began)
	}
	ends := endsOf(h)
	for _, report := range h.Reports {
		if report.Refused == nil {
			prove(ends[execution{report.Item, report.Token}], report.At)
		}
	}
	latest := h.End
	for i := range slices.Backward(h.States) {
		state := &h.States[i]
		if at, ok := proof[state.Step.Snapshot.Revision()]; ok && at.Before(latest) {
			latest = at
		}
		if state.At.Before(latest) {
			latest = state.At
		}
		state.At = latest
	}
}

// execution names one.
type execution struct {
	item  int
	token int64
}

// endsOf returns the revisions that recorded the ends of executions.
func endsOf(h checker.History) map[execution]registry.Revision {
	ends := make(map[execution]registry.Revision)
	s := jobtree.NewState(h.Job)
	for _, state := range h.States {
		for _, n := range s.Apply(state.Step).Items {
			record := s.Item(n).Record
			if current := record.Value.Current; current != nil && current.Token != 0 {
				key := execution{n, current.Token}
				if ends[key] == 0 {
					ends[key] = record.Revision
				}
			}
		}
	}
	return ends
}

func TestStatesCameToBeBeforeWhatFollowedFromThem(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return origin.Add(time.Duration(ms) * time.Millisecond) }
	begun, err := jobtree.Record{}.Begin(jobtree.Begin{
		Instance: "127.0.0.1@-@1", Session: 1, Round: "r", Time: at(0), Fire: at(0), Source: job.Scheduled,
	})
	require.NoError(t, err)
	ended, err := begun.End(jobtree.End{Token: 6, Time: at(20), Outcome: jobtree.Success})
	require.NoError(t, err)
	path := jobtree.For("orders").ItemRecord(2)
	state := func(arrived int, revision registry.Revision, record jobtree.Record) checker.State {
		n := registry.Node{Path: path, Value: jobtree.EncodeRecord(record), Created: 6, Revision: revision}
		return checker.State{At: at(arrived), Step: registry.Step{
			Snapshot: registry.NewSnapshot(revision, []registry.Node{n}), Changes: []registry.Change{{New: n}},
		}}
	}
	h := checker.History{
		Job: "orders", End: at(100),
		States:  []checker.State{state(9, 5, jobtree.Record{}), state(30, 6, begun), state(31, 7, ended), state(40, 8, ended)},
		Runs:    []checker.Run{{Context: job.ShardingContext{Item: 2, Token: 6}, Began: at(7)}},
		Reports: []checker.Report{{Item: 2, Token: 6, At: at(22)}, {Item: 2, Token: 5, At: at(1)}},
	}
	correctTimes(h)
	var times []time.Time
	for _, s := range h.States {
		times = append(times, s.At)
	}
	require.Equal(t, []time.Time{at(7), at(7), at(22), at(40)}, times)
}
