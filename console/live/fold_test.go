package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// ran is an execution of the story of an item, as it truly was.
type ran struct {
	begin    time.Time
	instance string
	outcome  string // empty while it runs
	end      time.Time
}

// itemStory writes the records of an item, each by the rules of package jobtree, and notes what ran.
type itemStory struct {
	*rapid.T
	record   jobtree.Record
	revision registry.Revision
	now      time.Time
	runs     []ran
	nodes    []registry.Node // after each step
}

func (s *itemStory) write(r jobtree.Record) {
	s.Helper()
	s.revision++
	s.record = r
	s.nodes = append(s.nodes, registry.Node{
		Path: jobtree.For("orders").ItemRecord(0), Value: jobtree.EncodeRecord(r), Created: 1, Revision: s.revision,
	})
}

func (s *itemStory) step() {
	s.Helper()
	s.now = s.now.Add(time.Duration(rapid.IntRange(1, 5_000).Draw(s.T, "passes")) * time.Millisecond)
	instance := rapid.SampledFrom([]string{"10.0.0.1@-@a", "10.0.0.2@-@b"}).Draw(s.T, "instance")
	token := int64(s.record.Token(s.revision))
	switch s.record.State {
	case jobtree.ItemRunning:
		last := &s.runs[len(s.runs)-1]
		switch rapid.IntRange(0, 3).Draw(s.T, "ends") {
		case 0:
			next, err := s.record.Undo(token, s.now)
			if err != nil {
				return // what took over a lost execution is not given back
			}
			s.runs = s.runs[:len(s.runs)-1]
			s.write(next)
		case 1:
			next, err := s.record.DeclareLost(token, s.now, 0)
			require.NoError(s, err)
			last.outcome, last.end = "lost", s.now
			s.write(next)
		default:
			next, err := s.record.End(jobtree.End{Token: token, Time: s.now, Outcome: jobtree.Success})
			require.NoError(s, err)
			last.outcome, last.end = "success", s.now
			s.write(next)
		}
	case jobtree.ItemWaiting:
		next, err := s.record.Claim(jobtree.Claim{Instance: instance, Session: 1, Time: s.now})
		require.NoError(s, err)
		s.runs = append(s.runs, ran{begin: s.now, instance: instance})
		s.write(next)
	default:
		next, err := s.record.Begin(jobtree.Begin{
			Instance: instance, Session: 1, Source: job.Scheduled, Fire: s.now, Time: s.now, Failover: true,
		})
		require.NoError(s, err)
		s.runs = append(s.runs, ran{begin: s.now, instance: instance})
		s.write(next)
	}
}

func newFold(now time.Time) *fold {
	return &fold{line: &timeline{}, now: now, number: 1, minutes: newPerMinute(now)}
}

// A timeline shows exactly what ran, if it sees each record; if it misses some, what it shows is true, and every
// execution that it does not show lies in a gap.
func TestATimelineIsTrue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &itemStory{T: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			s.step()
		}
		skips := rapid.Bool().Draw(t, "skips")
		f := newFold(s.now)
		shown := registry.Node{}
		for i, n := range s.nodes {
			if i < len(s.nodes)-1 && skips && rapid.Bool().Draw(t, "skipped") {
				continue
			}
			f.number++
			f.change(jobtree.Name{Job: "orders", Kind: jobtree.KindItemRecord}, registry.Change{Old: shown, New: n})
			shown = n
		}
		spans := make(map[string]Span)
		for _, sp := range f.line.spans {
			spans[fmt.Sprint(sp.begin, sp.instance.Value())] = sp.shown()
		}
		for i, r := range s.runs {
			sp, is := spans[fmt.Sprint(r.begin.UnixMilli(), r.instance)]
			if !is {
				gaps := f.line.gaps
				first := i == 0 || len(spans) == 0 || slices.IndexFunc(s.runs, func(o ran) bool {
					_, is := spans[fmt.Sprint(o.begin.UnixMilli(), o.instance)]
					return is
				}) > i
				covered := slices.ContainsFunc(gaps, func(g Gap) bool { return !r.begin.Before(g.From) && !r.begin.After(g.To) })
				require.True(t, skips && (covered || first), "the run of %s is neither shown nor in a gap: %v", r.begin, gaps)
				continue
			}
			delete(spans, fmt.Sprint(r.begin.UnixMilli(), r.instance))
			switch sp.Outcome {
			case outcomeUnknown:
				require.True(t, skips)
			case outcomeRunning:
				require.Empty(t, r.outcome, "shown as running, and ended")
			default:
				require.Equal(t, r.outcome, sp.Outcome)
				require.True(t, r.end.Equal(sp.End))
			}
		}
		for _, sp := range spans { // begun, and given back before its code was called, which nobody saw
			require.True(t, skips && sp.Outcome == outcomeUnknown, "%v is shown and did not run", sp)
		}
		if !skips {
			require.Empty(t, f.line.gaps)
		}
	})
}

func TestMisfiresAreNoted(t *testing.T) {
	t.Parallel()
	fire := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	node := func(fires ...time.Time) registry.Node {
		return registry.Node{
			Path: jobtree.For("orders").ItemMisfire(3), Value: jobtree.EncodeMisfire(jobtree.Misfire{Fires: jobtree.MissedFires(fires...)}), Revision: 1,
		}
	}
	f := newFold(fire.Add(time.Minute))
	of := jobtree.Name{Job: "orders", Kind: jobtree.KindItemMisfire, Item: 3}
	one, three := node(fire), node(fire, fire.Add(time.Second), fire.Add(2*time.Second))
	three.Revision = 2
	for _, c := range []registry.Change{
		{New: one},
		{Old: one, New: three},
		{Old: three, New: three},
		{Old: three},
		{New: registry.Node{Path: one.Path, Revision: 3}}, // as Java notes it
	} {
		f.change(of, c)
	}
	var fires []int
	for _, e := range f.line.log {
		require.Equal(t, EntryMisfire, e.Kind)
		require.Equal(t, 3, *e.Item)
		fires = append(fires, e.Fires)
	}
	require.Equal(t, []int{1, 2, 0}, fires)
	require.Equal(t, "item 3 missed the fire of 2026-01-01T12:00:00Z", f.line.log[0].Text)
}

func TestATimelineIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := &timeline{}
		size := 0
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			runs, passes := rapid.IntRange(0, 900).Draw(t, "runs"), rapid.IntRange(0, 3_000).Draw(t, "passes")
			for i := range runs {
				now = now.Add(time.Duration(passes) * time.Millisecond)
				s, _ := spanOf(i%3, &jobtree.Execution{
					Instance: "a", Begin: now, End: now.Add(time.Second), Outcome: jobtree.Success, Error: strings.Repeat("x", i%5),
				}, 0)
				grown, _ := line.put(s)
				size += grown
			}
			if rapid.Bool().Draw(t, "forgets") {
				size -= line.forget(now)
			}
			counted := 0
			for _, s := range line.spans {
				counted += s.size()
			}
			require.Equal(t, counted, size)
			require.Equal(t, counted, line.size)
			require.LessOrEqual(t, len(line.spans), spansOfJob)
			require.True(t, slices.IsSortedFunc(line.spans, func(a, b *span) int { return int(a.begin - b.begin) }))
			if !line.since.IsZero() && len(line.spans) > 0 {
				require.False(t, moment(line.spans[0].begin).Before(line.since), "what is shown as complete is")
			}
		}
	})
}

func TestFailuresInARow(t *testing.T) {
	t.Parallel()
	line := &timeline{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, run := range []struct {
		item    int
		outcome jobtree.Outcome
	}{
		{0, jobtree.Failure}, {0, jobtree.Success}, {0, jobtree.Failure}, {1, jobtree.Failure}, {1, jobtree.Lost}, {1, jobtree.Failure}, {0, jobtree.Failure}, {2, jobtree.Success},
	} {
		begin := at.Add(time.Duration(i) * time.Minute)
		s, _ := spanOf(run.item, &jobtree.Execution{Instance: "a", Begin: begin, End: begin.Add(time.Second), Outcome: run.outcome}, 0)
		line.put(s)
	}
	require.Equal(t, 3, line.failures(), "of item 1; item 0 has two")
}

// An execution whose mark is gone is not shown as running, whatever its record says; if the mark was only not seen,
// it is again.
func TestAnExecutionWithoutItsMark(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tree := jobtree.For("orders")
	begun, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: "a", Session: 1, Source: job.Scheduled, Fire: now, Time: now})
	require.NoError(t, err)
	record := registry.Node{Path: tree.ItemRecord(2), Value: jobtree.EncodeRecord(begun), Created: 5, Revision: 5}
	mark := registry.Node{Path: tree.ItemRunning(2), Created: 5, Revision: 5, Session: 1}
	state := func(nodes ...registry.Node) *jobtree.State {
		return jobtree.StateOf("orders", registry.NewSnapshot(9, nodes))
	}
	f := newFold(now.Add(time.Second))
	f.change(jobtree.Name{Job: "orders", Kind: jobtree.KindItemRecord, Item: 2}, registry.Change{New: record})
	s := f.line.spans[0]
	f.settle(state(record, mark))
	require.Zero(t, s.cut)
	f.number++
	f.settle(state(record))
	require.Equal(t, now.Add(time.Second), s.shown().Cut)
	require.Equal(t, outcomeRunning, s.shown().Outcome, "nobody has said how it ended")
	require.Equal(t, f.number, s.changed)
	f.settle(state(record, mark))
	require.Zero(t, s.cut)
	f.loseOthers(2, begun.Current)
	require.True(t, s.running())
	f.loseOthers(2, nil)
	require.Equal(t, outcomeUnknown, s.shown().Outcome)
}

func TestDeeds(t *testing.T) {
	t.Parallel()
	for want, op := range map[string][2]string{
		"disable item 3":          {"disable item", "item 3"},
		"enable server 10.0.0.1":  {"enable server", "server 10.0.0.1"},
		"trigger items 0,3":       {"trigger", "items 0,3"},
		"shut down instance a":    {"shut down", "instance a"},
		"disable":                 {"disable", ""},
		"tidy servers 10.0.0.9":   {"tidy servers", "servers 10.0.0.9"},
		"note that no file names": {"note that no file names", ""},
	} {
		require.Equal(t, want, deed(op[0], op[1]))
	}
}
