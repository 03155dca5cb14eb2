package operate

import (
	"context"

	"github.com/elasticron/elasticron/registry"
)

// Reshard asks the leader of a job to assign its items anew. It is done when the leader has. It is refused if no
// instance lives. Of a job that is disabled, or pauses, the plan says that the leader answers when that is over, and it is not
// waited for.
func (o *Operator) Reshard(ctx context.Context, job string, opts Options) (Result, error) {
	return o.carry(ctx, deed{
		verb: VerbReshard, job: job, decide: reshard,
		followed: func(w *world, _ Result) Progress {
			why := w.unanswered()
			switch {
			case w.state.Necessary == 0:
				return reached(1, 1, "the leader has answered")
			case why != "":
				return done(why)
			default:
				return Progress{Of: 1, Text: "the leader is asked" + w.butNobodyLeads()}
			}
		},
	}, opts)
}

func reshard(w *world) (decision, error) {
	if r := w.known(); r != nil {
		return decision{}, r
	}
	if len(w.state.Instances) == 0 {
		return decision{}, refuse(CauseNoInstance, "start a process that runs the job", "no instance of the job lives")
	}
	d := decision{write: []registry.Write{registry.Put(w.tree.Necessary(), "")}}
	d.plan.Changes = []Change{{What: "resharding", Before: "as it was", After: "asked for"}}
	var unknown string
	d.plan.Moves, unknown = w.resharding(w.state.Config.Value, w.enabled(nil))
	d.warn(unknown)
	if why := w.unanswered(); why != "" {
		d.plan.Moves = nil
		d.warn(why)
	} else if leaderless(w.state) {
		d.plan.Notes = append(d.plan.Notes, nobodyLeads)
	}
	return d, nil
}

// unanswered says why nobody answers a request to assign items, and when somebody will; empty if somebody may at once.
func (w *world) unanswered() string {
	switch {
	case w.state.JobDisabled(), w.operated.Value.DisabledServers != nil:
		return "the job is disabled, and assigns its items when it is enabled"
	case len(w.state.Instances) > 0 && len(w.enabled(nil)) == 0: // else a process is away that may be starting anew
		return nobodyEnabled + ", and items are assigned when one does"
	case pausedFor(w.state) != "":
		return "the job pauses, and assigns its items when its settings are corrected: " + pausedFor(w.state)
	default:
		return ""
	}
}
