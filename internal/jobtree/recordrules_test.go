package jobtree_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// history drives a record through random steps, as a store would: every step is judged on the record
// as it is, and one that is allowed gets the next revision. Beside it, it keeps what really ran.
type history struct {
	record   jobtree.Record
	revision registry.Revision // of the record
	next     registry.Revision
	fired    map[time.Time]bool         // the fires that scheduled and misfire executions stand for
	granted  map[registry.Revision]bool // the triggers that were run
	owed     bool                       // a lost execution under failover that has not been run again
	lost     jobtree.Execution          // that is owed
	previous *jobtree.Execution         // before the record's current one; nil = none
	limit    int
}

func (h *history) commit(t *rapid.T, next jobtree.Record, err error) bool {
	if err != nil {
		var refused *jobtree.RefusedError
		require.True(t, errors.As(err, &refused))
		require.Zero(t, next)
		return false
	}
	if was := h.record.Current; was != nil && was.Outcome != jobtree.NotStarted && next.State == jobtree.ItemRunning {
		e := past(h.record)
		h.previous = &e
	}
	h.next++
	h.revision, h.record = h.next, next
	return true
}

func (h *history) begin(t *rapid.T) {
	before := h.record
	b := jobtree.Begin{
		Instance: rapid.SampledFrom([]string{"10.0.0.1@-@7", "10.0.0.2@-@9", "10.0.0.3@-@11"}).Draw(t, "instance"), Session: 1,
		Source:   rapid.SampledFrom([]job.Source{job.Scheduled, job.Misfire}).Draw(t, "source"),
		Fire:     at(rapid.IntRange(0, 12).Draw(t, "minute")),
		Failover: rapid.Bool().Draw(t, "failover"),
		Time:     at(rapid.IntRange(0, 12).Draw(t, "time")).Add(time.Duration(rapid.IntRange(0, 2_000_000).Draw(t, "microseconds")) * time.Microsecond),
	}
	next, err := before.Begin(b)
	if !h.commit(t, next, err) {
		require.True(t, before.State == jobtree.ItemRunning ||
			before.State == jobtree.ItemWaiting && b.Failover || !b.Fire.After(before.LastFire))
		return
	}
	require.False(t, h.fired[b.Fire], "a fire begins once")
	require.True(t, b.Fire.After(before.LastFire))
	require.Equal(t, b.Fire, next.LastFire)
	h.fired[b.Fire] = true
	if b.Failover {
		require.False(t, h.owed, "with failover on, nothing buries lost work")
	}
	h.owed = false
}

func (h *history) beginByHand(t *rapid.T) {
	before := h.record
	trigger := registry.Revision(rapid.IntRange(1, 6).Draw(t, "trigger"))
	b := byHand(trigger)
	next, err := before.Begin(b)
	if !h.commit(t, next, err) {
		return
	}
	require.False(t, h.granted[trigger], "a trigger is run once")
	h.granted[trigger] = true
	require.Equal(t, before.LastFire, next.LastFire)
	require.False(t, h.owed)
}

func (h *history) end(t *rapid.T) {
	e := jobtree.End{
		Token:         int64(h.revision),
		Time:          at(rapid.IntRange(0, 12).Draw(t, "time")),
		Outcome:       rapid.SampledFrom([]jobtree.Outcome{jobtree.Success, jobtree.Failure, jobtree.Interrupted}).Draw(t, "outcome"),
		FailoverLimit: h.limit,
	}
	before := h.record
	next, err := before.End(e)
	if !h.commit(t, next, err) {
		require.NotEqual(t, jobtree.ItemRunning, before.State)
		return
	}
	require.Equal(t, before.LastFire, next.LastFire)
	outcome, ok := next.Ended(e.Token)
	require.True(t, ok)
	require.Equal(t, e.Outcome, outcome)
	h.owed, h.lost = e.Outcome == jobtree.Interrupted && before.Current.Failover && !next.GaveUp(), *before.Current
}

func (h *history) declareLost(t *rapid.T) {
	before := h.record
	next, err := before.DeclareLost(int64(h.revision), at(0), h.limit)
	if !h.commit(t, next, err) {
		require.NotEqual(t, jobtree.ItemRunning, before.State)
		return
	}
	require.Equal(t, before.LastFire, next.LastFire)
	h.owed, h.lost = before.Current.Failover && !next.GaveUp(), *before.Current
}

func (h *history) claim(t *rapid.T) {
	before := h.record
	next, err := before.Claim(claim)
	if !h.commit(t, next, err) {
		require.NotEqual(t, jobtree.ItemWaiting, before.State)
		return
	}
	require.True(t, h.owed, "only lost work is claimed")
	require.Equal(t, before.LastFire, next.LastFire)
	require.Equal(t, h.lost.Fire, next.Current.Fire)
	require.Equal(t, h.lost.Trigger, next.Current.Trigger)
	require.Equal(t, before.Reruns+1, next.Reruns)
	require.True(t, h.limit == 0 || next.Reruns <= h.limit)
	h.owed = false
}

func (h *history) undo(t *rapid.T) {
	before := h.record
	next, err := before.Undo(int64(h.revision), at(0))
	if !h.commit(t, next, err) {
		require.NotEqual(t, jobtree.ItemRunning, before.State)
		return
	}
	require.Equal(t, *before.Before, jobtree.Before{
		State: next.State, LastFire: next.LastFire, Trigger: next.Trigger, Reruns: next.Reruns,
	})
	switch before.Current.Source {
	case job.Manual:
		delete(h.granted, before.Trigger)
	case job.Scheduled, job.Misfire:
		delete(h.fired, before.LastFire)
	}
	h.owed = next.State == jobtree.ItemWaiting
}

// check holds after every step.
func (h *history) check(t *rapid.T) {
	r := h.record
	require.Equal(t, h.owed, r.State == jobtree.ItemWaiting, "what is owed waits, and nothing else does")
	require.Equal(t, r.State == jobtree.ItemRunning, r.Before != nil)
	if r.State == jobtree.ItemRunning {
		require.Zero(t, r.Current.Token)
		require.Empty(t, r.Current.Outcome)
	} else if r.Current != nil {
		require.NotZero(t, r.Current.Token)
		require.NotEmpty(t, r.Current.Outcome)
	}
	previous, ok := r.Previous()
	require.Equal(t, h.previous != nil, ok)
	if ok {
		require.Equal(t, *h.previous, previous, "whoever ran since, and whether it started")
		require.NotEqual(t, jobtree.NotStarted, previous.Outcome)
		if r.Current.Token != 0 {
			require.Greater(t, r.Current.Token, previous.Token, "tokens grow")
		}
	}
	again, err := jobtree.DecodeRecord(recordNode(jobtree.EncodeRecord(r)))
	require.NoError(t, err)
	if r.State == "" {
		r.State = jobtree.ItemIdle
	}
	require.Equal(t, r, again)
}

func TestNoSequenceOfStepsBreaksTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := &history{
			fired: make(map[time.Time]bool), granted: make(map[registry.Revision]bool),
			limit: rapid.IntRange(0, 2).Draw(t, "limit"),
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin":         h.begin,
			"begin by hand": h.beginByHand,
			"end":           h.end,
			"declare lost":  h.declareLost,
			"claim":         h.claim,
			"undo":          h.undo,
			"":              h.check,
		})
	})
}
