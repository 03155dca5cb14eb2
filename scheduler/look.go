package scheduler

import "github.com/elasticron/elasticron/scheduler/internal/room"

// look returns what the runner knows, for a room to decide by. The view is made anew only when something of that
// has changed: a decision looks some fifteen times, and there may be thousands of jobs.
func (r *runner) look() room.View {
	if now := r.facts(); r.seen.Facts == nil || now != *r.seen.Facts {
		made := now // apart, so that nothing is made of what has not changed
		r.seen = room.View{Facts: &made}
	}
	return r.seen
}

// facts returns what the runner knows, as it is now.
func (r *runner) facts() room.Facts {
	tokens, known := r.mending.Tokens()
	return room.Facts{
		Process: &r.s.process, Tree: r.tree, State: r.state, Applied: r.applied, Attached: r.attached,
		Leaving: r.departure.leaving, Blind: r.blind != nil, BlindTooLong: r.blind != nil && r.blind.expired,
		Out: r.membership.Out(), ClockRefused: r.membership.Refuses(), LeftAt: r.membership.LeftAt(),
		Usable: r.settings.OK, Refused: r.configuration.Refusal() != "", Config: r.settings.Config, Rules: &r.settings.Rules,
		Tokens: tokens, TokensKnown: known, HeadStart: r.entry.HeadStart(),
	}
}
