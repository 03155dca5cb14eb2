//go:build linux

package process_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// settleTimes corrects when states came to be. The tape tells when it heard of them, which may be later
// than the process did that brought them about; whatever a process did after a commit proves that it
// was done by then.
func settleTimes(h checker.History) {
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
	state := func(heard int, revision registry.Revision, record jobtree.Record) checker.State {
		n := registry.Node{Path: path, Value: jobtree.EncodeRecord(record), Created: 6, Revision: revision}
		return checker.State{At: at(heard), Step: registry.Step{
			Snapshot: registry.NewSnapshot(revision, []registry.Node{n}), Changes: []registry.Change{{New: n}},
		}}
	}
	h := checker.History{
		Job: "orders", End: at(100),
		States:  []checker.State{state(9, 5, jobtree.Record{}), state(30, 6, begun), state(31, 7, ended), state(40, 8, ended)},
		Runs:    []checker.Run{{Context: job.ShardingContext{Item: 2, Token: 6}, Began: at(7)}},
		Reports: []checker.Report{{Item: 2, Token: 6, At: at(22)}, {Item: 2, Token: 5, At: at(1)}},
	}
	settleTimes(h)
	var times []time.Time
	for _, s := range h.States {
		times = append(times, s.At)
	}
	require.Equal(t, []time.Time{at(7), at(7), at(22), at(40)}, times)
}
