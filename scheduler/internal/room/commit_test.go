package room_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// answers is a registry that answers with an outcome for each transaction.
type answers []registry.Outcome

func (a answers) CommitAll(context.Context, []registry.Txn) []registry.Outcome { return a }

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
