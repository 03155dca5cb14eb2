package room_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// asked notes what is committed, by the number of transactions, and what is heard of the outcomes. It answers each
// transaction with the same outcome, or parts with that of another one.
type asked struct {
	outcome, parts registry.Outcome
	requests       []string
	heard          []string
}

func (a *asked) CommitAll(_ context.Context, txns []registry.Txn) []registry.Outcome {
	a.requests = append(a.requests, fmt.Sprintf("%d together", len(txns)))
	return slices.Repeat([]registry.Outcome{a.parts}, len(txns))
}

func (a *asked) Commit(context.Context, registry.Txn) (registry.Revision, error) {
	a.requests = append(a.requests, "alone")
	return a.outcome.Revision, a.outcome.Err
}

func (a *asked) Together(context.Context, registry.Txn) (registry.Revision, error) {
	a.requests = append(a.requests, "with other jobs")
	return a.outcome.Revision, a.outcome.Err
}

func (a *asked) Denials() *room.Denials                 { return nil }
func (a *asked) Committed(registry.Revision)            { a.heard = append(a.heard, "committed") }
func (a *asked) Refused(string, error)                  { a.heard = append(a.heard, "refused") }
func (a *asked) Overtaken(*registry.ConflictError)      { a.heard = append(a.heard, "overtaken") }
func (a *asked) Tell(slog.Level, string, error, ...any) { a.heard = append(a.heard, "told") }

// Each outcome of a batch has its own consequence, and only that one.
func TestWhatFollowsFromAnOutcome(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		proposal room.Proposal
		err      error
		want     []string
	}{
		"done":                    {want: []string{"done", "committed"}},
		"done and noted":          {proposal: room.Proposal{Noted: true}, want: []string{"done"}},
		"not sent":                {err: registry.ErrNotSent, want: []string{"dropped"}},
		"refused":                 {err: full, want: []string{"refused"}},
		"refused, but optional":   {proposal: room.Proposal{Optional: true}, err: full},
		"hopeless":                {err: registry.ErrTooLarge, want: []string{"told"}},
		"hopeless, but insisting": {proposal: room.Proposal{Insist: true}, err: registry.ErrTooLarge, want: []string{"refused"}},
		"hopeless, but alone":     {proposal: room.Proposal{Alone: true}, err: registry.ErrTooLarge, want: []string{"refused"}},
		"done alone":              {proposal: room.Proposal{Alone: true}, want: []string{"done", "committed"}},
		"overtaken":               {proposal: room.Proposal{Apart: true}, err: &registry.ConflictError{}, want: []string{"overtaken"}},
		"apart, but no conflict":  {proposal: room.Proposal{Apart: true}, err: full, want: []string{"refused"}},
		"heard":                   {proposal: room.Proposal{Refused: func(error) bool { return true }}, err: full},
		"heard in vain":           {proposal: room.Proposal{Refused: func(error) bool { return false }}, err: full, want: []string{"refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome := registry.Outcome{Revision: 7, Err: c.err}
			a := &asked{outcome: outcome, parts: outcome}
			p := c.proposal
			p.Step = "step"
			p.Done = func(registry.Outcome) { a.heard = append(a.heard, "done") }
			p.Dropped = func() { a.heard = append(a.heard, "dropped") }
			room.Commit(a, &room.Attachment{Ctx: t.Context()}, room.Batch{p})
			require.ElementsMatch(t, c.want, a.heard)
		})
	}
}

// What stands alone has a request of its own, in its place among the others; what goes before it travels together.
func TestWhatTravelsTogether(t *testing.T) {
	t.Parallel()
	plain, alone, crowds := room.Proposal{}, room.Proposal{Alone: true}, room.Proposal{Alone: true, Crowds: true}
	parts := room.Proposal{Alone: true, Parts: make([]registry.Txn, 3)}
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		batch     room.Batch
		parts     error
		want      []string
		committed int
		refused   int
	}{
		"nothing":                {nil, nil, nil, 0, 0},
		"all together":           {room.Batch{plain, plain}, nil, []string{"2 together"}, 2, 0},
		"all alone":              {room.Batch{alone, alone}, nil, []string{"alone", "alone"}, 2, 0},
		"with other jobs'":       {room.Batch{crowds}, nil, []string{"with other jobs"}, 1, 0},
		"some alone":             {room.Batch{plain, plain, alone, plain}, nil, []string{"2 together", "alone", "1 together"}, 4, 0},
		"with parts":             {room.Batch{parts}, nil, []string{"3 together", "alone"}, 4, 0},
		"its parts were refused": {room.Batch{parts, alone}, full, []string{"3 together", "alone"}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &asked{outcome: registry.Outcome{Revision: 8}, parts: registry.Outcome{Revision: 7, Err: c.parts}}
			room.Commit(a, &room.Attachment{Ctx: t.Context()}, c.batch)
			require.Equal(t, c.want, a.requests)
			heard := slices.Concat(slices.Repeat([]string{"committed"}, c.committed), slices.Repeat([]string{"refused"}, c.refused))
			require.ElementsMatch(t, heard, a.heard)
		})
	}
}

// Without proposals there is no request, so whether there is a session, and who would commit, is not even looked at.
func TestNothingIsCommittedOfAnEmptyBatch(t *testing.T) {
	t.Parallel()
	require.NotPanics(t, func() { room.Commit(nil, nil, nil) })
}

// What stands alone may have a session of its own, and then needs no present one.
func TestWhatHasItsOwnSession(t *testing.T) {
	t.Parallel()
	a := &asked{}
	room.Commit(a, nil, room.Batch{{Alone: true, Under: &room.Attachment{Ctx: t.Context()}}})
	require.Equal(t, []string{"alone"}, a.requests)
}
