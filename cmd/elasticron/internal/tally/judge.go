package tally

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/job"
)

// Judge receives the results of all processes, keeps them in a [Store], and decides of every round
// whether it is exact. See the package documentation for the rules.
type Judge struct {
	truth fileindex.Truth
	every time.Duration

	store   Store
	started bool
	after   time.Time // rounds count from the first fire later than this
	first   time.Time // that fire; zero until a result names it
	items   []track
	open    []Round // those that are not settled or not handed out, in order
	settled int     // handed out
	counts  Counts
	faults  []Fault
}

// track is what the judge remembers of an item.
type track struct {
	last     int   // the newest round that a run of it stands for; 0 = none
	token    int64 // of the run that stands for that round
	recorded bool  // the registry knows that this run ended
	orphaned bool  // the process that held the item was lost, and nobody has caught up yet
}

// Counts are numbers over all rounds that count.
type Counts struct {
	Runs     map[job.Source]int // results by what their runs said
	Replaced int                // results that a rerun replaced
	CaughtUp int                // fires of items for which a later run stands
	Stalled  int                // of these, such for which a process stood still and no label says so
	Stale    int                // results that were refused
}

// NewJudge makes a judge who expects what truth says, of a job that fires at whole multiples of
// every.
func NewJudge(truth fileindex.Truth, every time.Duration) *Judge {
	return &Judge{
		truth: truth, every: every, items: make([]track, len(truth.Shares)),
		counts: Counts{Runs: make(map[job.Source]int)},
	}
}

// Start has the rounds count from the first fire later than after. Results of earlier ones are kept
// in the store and not judged.
func (j *Judge) Start(after time.Time) { j.started, j.after = true, after }

// End has results that come from now on be kept in the store and not judged.
func (j *Judge) End() { j.started = false }

// Orphan notes that the process that held these items was lost: the next run of each stands for the
// fires in between.
func (j *Judge) Orphan(items []int) {
	for _, item := range items {
		j.items[item].orphaned = true
	}
}

// Recorded notes that the registry knows of the end of a run. It must not run again.
func (j *Judge) Recorded(item int, token int64) {
	if j.knows(item) && j.items[item].token == token {
		j.items[item].recorded = true
	}
}

// Accept takes a result. The error is a [*StaleError] if its token is too low: then the result does
// not count, and its writer should learn why.
func (j *Judge) Accept(r Result) error {
	if !j.knows(r.Item) {
		j.fault(Wrong, j.Number(r), r.Item, "%s ran it, but items go from 0 to %d", r.Instance, len(j.items)-1)
		return nil
	}
	if err := j.store.Put(r); err != nil {
		j.counts.Stale++
		return err
	}
	if !j.counting(r.Fire) {
		return nil
	}
	j.counts.Runs[r.Source]++
	number := j.Number(r)
	j.checkShare(number, r)
	switch t := &j.items[r.Item]; {
	case number > t.last:
		j.advance(t, number, r)
	case number == t.last:
		j.again(t, number, r)
	default:
		j.fault(Doubled, number, r.Item, "a run by %s followed one of round %d", r.Instance, t.last)
	}
	return nil
}

func (j *Judge) knows(item int) bool { return item >= 0 && item < len(j.items) }

// counting tells whether a fire belongs to a round that counts; the first such fire makes round 1.
func (j *Judge) counting(fire time.Time) bool {
	if !j.started || !fire.After(j.after) {
		return false
	}
	if j.first.IsZero() {
		j.first = fire
	}
	return !fire.Before(j.first)
}

func (j *Judge) checkShare(number int, r Result) {
	if rest := r.Fire.Sub(j.first) % j.every; rest != 0 {
		j.fault(Wrong, number, r.Item, "the fire %s is %s off the schedule", r.Fire.Format(time.RFC3339Nano), rest)
	}
	if r.Total != len(j.items) {
		j.fault(Wrong, number, r.Item, "%s ran it as one of %d items, not of %d", r.Instance, r.Total, len(j.items))
	}
	if share := j.truth.Shares[r.Item]; r.Sum != share {
		j.fault(Wrong, number, r.Item, "%s counted %s, the share is %s", r.Instance, r.Sum, share)
	}
}

// advance has a run stand for its own round, and for those since the last one if that is excused.
func (j *Judge) advance(t *track, number int, r Result) {
	explained := r.Source == job.Misfire || t.orphaned
	for n := t.last + 1; n < number; n++ {
		switch {
		case explained:
		case j.active(r.Instance, n):
			j.fault(Missed, n, r.Item, "%s ran it for round %d instead, as %s", r.Instance, number, r.Source)
		default:
			j.counts.Stalled++
		}
		j.counts.CaughtUp++
		j.put(n, r.Item, Cell{Standing: CaughtUp, Result: r})
	}
	standing := Own
	if r.Source == job.Failover {
		standing = Rerun
	} else {
		t.orphaned = false
	}
	j.put(number, r.Item, Cell{Standing: standing, Result: r})
	t.last, t.token, t.recorded = number, r.Token, false
}

// active tells whether an instance ran any item for a round that is open. One that did not has stood
// still, or found no registry: the scheduler then lets the newest fire stand for the others.
func (j *Judge) active(instance string, number int) bool {
	i := number - j.settled - 1
	return i < len(j.open) && slices.ContainsFunc(j.open[i].Cells, func(c Cell) bool {
		return c.Standing != Pending && c.Standing != CaughtUp && c.Result.Instance == instance
	})
}

// again judges a second run for the same fire, and has it replace the first.
func (j *Judge) again(t *track, number int, r Result) {
	switch {
	case r.Token == t.token:
		j.fault(Doubled, number, r.Item, "%s wrote twice under token %d", r.Instance, r.Token)
	case r.Source != job.Failover:
		j.fault(Doubled, number, r.Item, "%s ran it a second time, as %s", r.Instance, r.Source)
	case t.recorded:
		j.fault(Doubled, number, r.Item, "%s ran it again although the first run had ended", r.Instance)
	default:
		j.counts.Replaced++
	}
	j.put(number, r.Item, Cell{Standing: Rerun, Result: r})
	t.token, t.recorded = r.Token, false
}

func (j *Judge) fault(kind FaultKind, round, item int, format string, args ...any) {
	j.faults = append(j.faults, Fault{Kind: kind, Round: round, Item: item, Text: fmt.Sprintf(format, args...)})
}
