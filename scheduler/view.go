package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// moment is all that changes of what a runner knows.
type moment struct {
	applied              registry.Revision
	attached             *room.Attachment
	settings             *configuration.Settings
	tokens               jobtree.Tokens
	known                bool // the tokens are
	leaving, blind, away bool
	refuses              bool
	leftAt               time.Time
}

// moment returns all that changes of what the runner knows, as it is now.
func (r *runner) moment() moment {
	tokens, known := r.mending.Tokens()
	return moment{
		applied: r.applied, attached: r.attached, settings: r.settings, tokens: tokens, known: known,
		leaving: r.departure.leaving, blind: r.blind.since != nil, away: r.membership.Out(),
		refuses: r.membership.Refuses(), leftAt: r.membership.LeftAt(),
	}
}

// look returns what the runner knows, for a room to decide by. The view is made anew only when something of that
// has changed: a decision looks some fifteen times, and there may be thousands of jobs.
func (r *runner) look() room.View {
	if now := r.moment(); r.seen.Facts == nil || now != r.seenAt {
		r.seen, r.seenAt = r.viewAt(now), now
	}
	return r.seen
}

// viewAt makes the view of a moment.
func (r *runner) viewAt(now moment) room.View {
	return room.View{Facts: &room.Facts{
		Job: r.name, Instance: r.s.instance, Tree: r.tree, State: r.state, Applied: now.applied, Attached: now.attached,
		Leaving: now.leaving, Blind: now.blind, Out: now.away, Refuses: now.refuses, LeftAt: now.leftAt,
		Usable: now.settings.OK, Config: now.settings.Config, Rules: now.settings.Rules, Clock: &r.s.clock,
		Tokens: now.tokens, Known: now.known,
	}}
}
