package room_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// answers is a registry that answers with an outcome for each transaction.
type answers []registry.Outcome

func (a answers) CommitAll(context.Context, []registry.Txn) []registry.Outcome { return a }

func (a answers) Commit(context.Context, registry.Txn) (registry.Revision, error) {
	return a[0].Revision, a[0].Err
}

// requests notes what is asked of a registry, by the number of transactions, and refuses parts if it is told to.
type requests struct {
	seen  []string
	parts error
}

func (r *requests) CommitAll(_ context.Context, txns []registry.Txn) []registry.Outcome {
	r.seen = append(r.seen, fmt.Sprintf("%d together", len(txns)))
	outcomes := make([]registry.Outcome, len(txns))
	for i := range outcomes {
		outcomes[i] = registry.Outcome{Revision: 7, Err: r.parts}
	}
	return outcomes
}

func (r *requests) Commit(context.Context, registry.Txn) (registry.Revision, error) {
	r.seen = append(r.seen, "alone")
	return 8, nil
}

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
			var got []string
			p := c.proposal
			p.Step = "step"
			p.Done = func(registry.Outcome) { got = append(got, "done") }
			p.Dropped = func() { got = append(got, "dropped") }
			commits := &room.Commits{
				Ports:     &room.Ports{Tell: func(slog.Level, string, error, ...any) { got = append(got, "told") }},
				Registry:  answers{{Revision: 7, Err: c.err}},
				Committed: func(registry.Revision) { got = append(got, "committed") },
				Refused:   func(string, error) { got = append(got, "refused") },
				Overtaken: func(*registry.ConflictError) { got = append(got, "overtaken") },
			}
			commits.All(&room.Attachment{Ctx: t.Context()}, room.Batch{p})
			require.ElementsMatch(t, c.want, got)
		})
	}
}

// Without proposals there is no request, whether or not there is a session.
func TestNothingIsCommittedOfAnEmptyBatch(t *testing.T) {
	t.Parallel()
	(&room.Commits{}).All(nil, nil)
}

// What stands alone has a request of its own, in its place among the others; what goes before it travels together.
func TestWhatTravelsTogether(t *testing.T) {
	t.Parallel()
	plain, alone := room.Proposal{}, room.Proposal{Alone: true}
	parts := room.Proposal{Alone: true, Parts: make([]registry.Txn, 3)}
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		batch     room.Batch
		parts     error
		want      []string
		committed int
		refused   int
	}{
		"all together":           {room.Batch{plain, plain}, nil, []string{"2 together"}, 2, 0},
		"all alone":              {room.Batch{alone, alone}, nil, []string{"alone", "alone"}, 2, 0},
		"some alone":             {room.Batch{plain, plain, alone, plain}, nil, []string{"2 together", "alone", "1 together"}, 4, 0},
		"with parts":             {room.Batch{parts}, nil, []string{"3 together", "alone"}, 4, 0},
		"its parts were refused": {room.Batch{parts, alone}, full, []string{"3 together", "alone"}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg, committed, refused := &requests{parts: c.parts}, 0, 0
			commits := &room.Commits{
				Ports: &room.Ports{}, Registry: reg,
				Committed: func(registry.Revision) { committed++ },
				Refused:   func(string, error) { refused++ },
			}
			commits.All(&room.Attachment{Ctx: t.Context()}, c.batch)
			require.Equal(t, c.want, reg.seen)
			require.Equal(t, []int{c.committed, c.refused}, []int{committed, refused})
		})
	}
}

// What stands alone may have a session of its own, and then needs no present one.
func TestWhatHasItsOwnSession(t *testing.T) {
	t.Parallel()
	reg := &requests{}
	commits := &room.Commits{Ports: &room.Ports{}, Registry: reg, Committed: func(registry.Revision) {}}
	commits.All(nil, room.Batch{{Alone: true, Under: &room.Attachment{Ctx: t.Context()}}})
	require.Equal(t, []string{"alone"}, reg.seen)
}
