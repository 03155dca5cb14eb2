package tally_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

const every = time.Second

// epoch is the fire before round 1.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func fire(round int) time.Time { return epoch.Add(time.Duration(round) * every) }

// theTruth is that of a small tree with three items, all of which have files.
func theTruth(t *testing.T) fileindex.Truth {
	t.Helper()
	tree := fstest.MapFS{}
	for n := range 20 {
		tree[fmt.Sprintf("file%d", n)] = &fstest.MapFile{Data: make([]byte, n)}
	}
	truth, err := fileindex.Count(context.Background(), tree, 3)
	require.NoError(t, err)
	for item, share := range truth.Shares {
		require.NotZero(t, share.Files, "item %d", item)
	}
	return truth
}

// step is something that the judge is told. Exactly one of its parts is set.
type step struct {
	run      tally.Result
	recorded *tally.Result
	orphan   []int
}

// by is a run of an item for a round. Its sum is put in by the test.
func by(instance string, item, round int, source job.Source, token int64) step {
	return step{run: tally.Result{
		Item: item, Total: 3, Fire: fire(round), Source: source, Token: token, Instance: instance,
	}}
}

// round is a round of which every item is run by a on time.
func round(n int) []step {
	return []step{
		by("a", 0, n, job.Scheduled, int64(10*n)), by("a", 1, n, job.Scheduled, int64(10*n)),
		by("a", 2, n, job.Scheduled, int64(10*n)),
	}
}

func steps(parts ...any) []step {
	var all []step
	for _, p := range parts {
		switch p := p.(type) {
		case step:
			all = append(all, p)
		case []step:
			all = append(all, p...)
		}
	}
	return all
}

// tell plays the steps to a new judge.
func tell(t *testing.T, truth fileindex.Truth, story []step) *tally.Judge {
	t.Helper()
	j := tally.NewJudge(truth, every)
	j.Start(epoch)
	for _, s := range story {
		switch {
		case s.orphan != nil:
			j.Orphan(s.orphan)
		case s.recorded != nil:
			j.Recorded(s.recorded.Item, s.recorded.Token)
		default:
			if s.run.Sum == (fileindex.Sum{}) && s.run.Item < len(truth.Shares) {
				s.run.Sum = truth.Shares[s.run.Item]
			}
			_ = j.Accept(s.run) // what is refused shows in the counts
		}
	}
	return j
}

func TestJudge(t *testing.T) {
	t.Parallel()
	truth := theTruth(t)
	recorded := func(item int, token int64) step {
		return step{recorded: &tally.Result{Item: item, Token: token}}
	}
	orphan := func(items ...int) step { return step{orphan: items} }
	wrongSum := by("b", 1, 1, job.Scheduled, 10)
	wrongSum.run.Sum = truth.Shares[0]
	wrongTotal := by("b", 1, 1, job.Scheduled, 10)
	wrongTotal.run.Total = 4
	offGrid := by("b", 1, 1, job.Scheduled, 11)
	offGrid.run.Fire = offGrid.run.Fire.Add(300 * time.Millisecond)

	tests := []struct {
		name    string
		story   []step
		settled int
		faults  []string // kind, round, item
	}{
		{"exact", steps(round(1), round(2)), 2, nil},
		{"nothing yet", nil, 0, nil},
		{"an item is still out", steps(round(1), by("a", 0, 2, job.Scheduled, 20)), 1, nil},
		{
			"lost before its result, rerun by failover",
			steps(round(1), round(2)[1:], orphan(0), by("b", 0, 2, job.Failover, 25)),
			2, nil,
		},
		{
			"lost after its result, rerun by failover",
			steps(round(1), round(2), orphan(0), by("b", 0, 2, job.Failover, 25)),
			2, nil,
		},
		{
			"missed fires are caught up by one run",
			steps(round(1), round(2)[1:], round(3)[1:], round(4)[1:], by("b", 0, 4, job.Misfire, 45)),
			4, nil,
		},
		{
			"failover, then catch-up",
			steps(round(1), round(2)[1:], round(3)[1:], orphan(0), by("b", 0, 2, job.Failover, 35), by("b", 0, 3, job.Misfire, 36)),
			3, nil,
		},
		{
			"the successor's first run stands for the gap under any label",
			steps(round(1), round(2)[1:], round(3)[1:], orphan(0), by("b", 0, 3, job.Scheduled, 35)),
			3, nil,
		},
		{
			"a rerun of a catch-up stands for the gap too, and the excuse lasts",
			steps(round(1), round(2)[1:], round(3)[1:], round(4)[1:], orphan(0), by("b", 0, 3, job.Failover, 35), by("b", 0, 4, job.Scheduled, 36)),
			4, nil,
		},
		{
			"a fire skipped without a reason",
			steps(round(1), round(2)[1:], round(3)),
			3,
			[]string{"missed 2/0"},
		},
		{
			"a process that stood still lets its newest fire stand for all",
			steps(round(1), round(4)), 4, nil,
		},
		{
			"the excuse ends with the first run of the successor",
			steps(round(1), orphan(0), round(2), round(3)[1:], round(4)),
			4,
			[]string{"missed 3/0"},
		},
		{
			"two runs of one fire",
			steps(round(1), by("b", 1, 1, job.Scheduled, 11)),
			1,
			[]string{"counted twice 1/1"},
		},
		{
			"a catch-up of a fire that ran",
			steps(round(1), by("b", 1, 1, job.Misfire, 11)),
			1,
			[]string{"counted twice 1/1"},
		},
		{
			"a rerun of a run whose end is recorded",
			steps(round(1), recorded(1, 10), by("b", 1, 1, job.Failover, 11)),
			1,
			[]string{"counted twice 1/1"},
		},
		{
			"a recorded end of another run says nothing",
			steps(round(1), recorded(1, 9), by("b", 1, 1, job.Failover, 11)),
			1, nil,
		},
		{
			"one execution writes twice",
			steps(round(1), by("a", 1, 1, job.Scheduled, 10)),
			1,
			[]string{"counted twice 1/1"},
		},
		{
			"an item goes back in time",
			steps(round(1), round(2), by("b", 1, 1, job.Scheduled, 21)),
			2,
			[]string{"counted twice 1/1"},
		},
		{
			"a run counts another share, so the whole is wrong, too",
			steps(round(1)[0], round(1)[2], wrongSum),
			1,
			[]string{"wrong 1/1", "wrong 1/-1"},
		},
		{"a run of another sharding", steps(round(1)[0], round(1)[2], wrongTotal), 1, []string{"wrong 1/1"}},
		{"a fire that is none", steps(round(1)[0], offGrid), 0, []string{"wrong 1/1"}},
		{"an item that is none", steps(by("b", 3, 1, job.Scheduled, 1)), 0, []string{"wrong 0/3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := tell(t, truth, tt.story)
			settled := j.Settled()
			require.Len(t, settled, tt.settled)
			require.Equal(t, tt.settled, j.Rounds())
			var faults []string
			for _, f := range j.Faults() {
				faults = append(faults, fmt.Sprintf("%s %d/%d", f.Kind, f.Round, f.Item))
				require.NotEmpty(t, f.Text)
			}
			require.Equal(t, tt.faults, faults)
			for i, r := range settled {
				require.Equal(t, i+1, r.Number)
				require.Equal(t, fire(i+1), r.Fire)
				if tt.faults == nil {
					require.Equal(t, truth.Whole, r.Sum())
				}
			}
		})
	}
}

func TestRoundsBeforeTheStartDoNotCount(t *testing.T) {
	t.Parallel()
	truth := theTruth(t)
	j := tally.NewJudge(truth, every)
	early := by("a", 0, 0, job.Scheduled, 5).run
	require.NoError(t, j.Accept(early), "its sum is wrong, but it does not count")
	j.Start(epoch)
	require.NoError(t, j.Accept(early))
	for _, s := range round(4) {
		s.run.Sum = truth.Shares[s.run.Item]
		require.NoError(t, j.Accept(s.run))
	}
	settled := j.Settled()
	require.Len(t, settled, 1, "the first fire that is heard of makes round 1")
	require.Equal(t, fire(4), settled[0].Fire)
	require.Empty(t, j.Faults())
	require.Equal(t, 3, j.Counts().Runs[job.Scheduled])
}

func TestStaleWriterIsRefused(t *testing.T) {
	t.Parallel()
	truth := theTruth(t)
	j := tell(t, truth, steps(round(1), by("b", 0, 1, job.Failover, 50)))
	zombie := by("a", 0, 1, job.Scheduled, 49).run
	err := j.Accept(zombie)
	require.ErrorIs(t, err, tally.ErrStale)
	var stale *tally.StaleError
	require.ErrorAs(t, err, &stale)
	require.Equal(t, tally.StaleError{Item: 0, Token: 49, Held: 50}, *stale)
	require.Equal(t, 1, j.Counts().Stale)
	require.Equal(t, 1, j.Counts().Replaced)
	require.Empty(t, j.Faults(), "what is refused does not count")
}

func TestOpenAndGiveUp(t *testing.T) {
	t.Parallel()
	j := tell(t, theTruth(t), steps(round(1), round(2)[1:], round(3)[2:]))
	require.Len(t, j.Settled(), 1)
	open := j.Open()
	require.Len(t, open, 2)
	require.Equal(t, []int{0}, open[0].Pending())
	require.Equal(t, []int{0, 1}, open[1].Pending())
	require.Empty(t, j.Faults())

	j.GiveUp()
	require.Len(t, j.Faults(), 1)
	require.Equal(t, "round 2, item 0: missed: nobody ran it", j.Faults()[0].String())
}

func TestCountsOfAStall(t *testing.T) {
	t.Parallel()
	j := tell(t, theTruth(t), steps(round(1), round(4)))
	require.Equal(t, 6, j.Counts().CaughtUp)
	require.Equal(t, 6, j.Counts().Stalled)
	require.Equal(t, 6, j.Counts().Runs[job.Scheduled])
}

func TestGroupsTellWhatStandsForAMissedFire(t *testing.T) {
	t.Parallel()
	j := tell(t, theTruth(t), steps(round(1),
		by("a", 0, 2, job.Scheduled, 20),
		step{orphan: []int{1, 2}},
		by("b", 1, 2, job.Failover, 21),
		by("b", 1, 3, job.Misfire, 31), by("c", 2, 3, job.Misfire, 32), by("a", 0, 3, job.Scheduled, 30),
	))
	settled := j.Settled()
	require.Len(t, settled, 3)
	require.Empty(t, settled[0].Groups())
	require.Equal(t, []tally.Group{
		{Standing: tally.Rerun, Instance: "b", Source: job.Failover, Fire: fire(2), Items: []int{1}},
		{Standing: tally.CaughtUp, Instance: "c", Source: job.Misfire, Fire: fire(3), Items: []int{2}},
	}, settled[1].Groups())
	require.Equal(t, []tally.Group{
		{Standing: tally.Own, Instance: "b", Source: job.Misfire, Fire: fire(3), Items: []int{1}},
		{Standing: tally.Own, Instance: "c", Source: job.Misfire, Fire: fire(3), Items: []int{2}},
	}, settled[2].Groups(), "their own runs, but late")
	require.Equal(t, 1, j.Counts().CaughtUp)
	require.Equal(t, map[job.Source]int{job.Scheduled: 5, job.Failover: 1, job.Misfire: 2}, j.Counts().Runs)
}
