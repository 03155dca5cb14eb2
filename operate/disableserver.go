package operate

import (
	"context"
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// DisableServer takes all instances at an address out of a job: their items move to others. It is done when they
// have, or when no other instance lives.
//
// It is refused if the address is neither that of a live instance nor known to the job, which Force consents to, and
// if the server is disabled already, and while elasticron migrate keeps the job and its servers disabled for a move. One that
// such a move has disabled, and that was confirmed, is not disabled already: the move enables it if it brings the job back.
func (o *Operator) DisableServer(ctx context.Context, job, ip string, opts Options) (Result, error) {
	return o.carry(ctx, serverDeed(VerbDisableServer, job, ip), opts)
}

// EnableServer takes back [Operator.DisableServer]. It is done when items have moved back, as the job's strategy
// wants. It is refused as that is.
func (o *Operator) EnableServer(ctx context.Context, job, ip string, opts Options) (Result, error) {
	return o.carry(ctx, serverDeed(VerbEnableServer, job, ip), opts)
}

func serverTarget(ip string) string { return "server " + ip }

func serverDeed(verb Verb, job, ip string) deed {
	return deed{
		verb: verb, job: job, target: serverTarget(ip),
		decide:   func(w *world) (decision, error) { return setServer(w, verb, ip) },
		followed: func(w *world, _ Result) Progress { return serverFollowed(w, ip, verb == VerbDisableServer) },
	}
}

func setServer(w *world, verb Verb, ip string) (decision, error) {
	disable := verb == VerbDisableServer
	if r := w.known(); r != nil {
		return decision{}, r
	}
	path := w.tree.Server(ip)
	if name, ok := jobtree.Parse(path); !ok || name.Kind != jobtree.KindServer || registry.CheckPath(path) != nil {
		return decision{}, refuse(CauseInvalid, "give the address of a server, as the ids of its instances begin", "%q is no address", ip)
	}
	cfg, before := w.state.Config.Value, w.operated.Value.DisabledServers
	is := w.disabledAt(ip)
	if before != nil { // all are, beside Java: what counts is how it will be when the job is enabled
		is = slices.Contains(before, ip)
	}
	if !w.force && !w.serves(ip) && !w.snapshot.Get(path).Exists() {
		r := refuse(CauseUnknownTarget, "look at the servers of the job, or force it if the server is still to come", "the job knows no server %s", ip)
		r.Forcible = true
		return decision{}, r
	}
	if r := w.disabledToMove(); r != nil && disable && cfg.Disabled {
		return decision{}, r
	}
	left, was := w.leftFor(), enabledWord(is)
	if disable && left.Disabled(ip) && w.disabledAt(ip) {
		is, was = false, "disabled by its move" // which no operator has said, and which ends when the job comes back
	}
	if is == disable {
		why := "it is not disabled%s"
		if disable {
			why = "it is disabled already%s"
		}
		return decision{}, refuse(CauseAlready, "", why, w.since(verb, serverTarget(ip)))
	}
	d := decision{
		compare: []registry.Condition{w.asRead(path)},
		plan:    Plan{Changes: []Change{{What: serverTarget(ip), Before: was, After: enabledWord(disable)}}},
	}
	if disable && left.ID != "" {
		if r := w.keepDisabled(&d, ip); r != nil {
			return decision{}, r
		}
	}
	switch {
	case before != nil: // its node stays disabled with the job
		after := slices.DeleteFunc(slices.Clone(before), func(other string) bool { return other == ip })
		if disable {
			after = append(after, ip)
		}
		d.note = func(o *jobtree.Operated) { o.DisabledServers = after }
		d.warn("the job is disabled: this counts when it is enabled")
		return d, nil
	case disable:
		d.write = append(d.write, registry.Put(path, w.state.Layout().EncodeServer(true)))
	case w.shared:
		if r := w.migrating(&d); r != nil {
			return decision{}, r
		}
		d.write = []registry.Write{registry.Put(path, w.state.Layout().EncodeServer(false))}
	default:
		d.write = []registry.Write{registry.Delete(path)}
	}
	w.planServer(&d, cfg, ip, disable)
	if !disable && w.serves(ip) && len(w.enabled(nil)) == 0 && !w.state.JobDisabled() {
		w.warnOfTrigger(&d, w.state.Pending(w.now))
	}
	return d, nil
}

// disabledAt tells whether the instances at an address take their server for disabled. Those of ElasticJob 3.x do so
// where the server has no node.
func (w *world) disabledAt(ip string) bool {
	s := w.state.Server(ip)
	return s.Disabled || w.elasticJob3() && s.Revision == 0 && w.serves(ip)
}

// planServer says which items move.
func (w *world) planServer(d *decision, cfg job.Config, ip string, disable bool) {
	if w.state.JobDisabled() {
		d.warn("the job is disabled: this counts when it is enabled")
		return
	}
	instances := w.enabled(func(other string) bool { return other == ip })
	if !disable {
		for _, i := range w.state.Instances {
			if jobtree.ServerOf(i.ID) == ip {
				instances = append(instances, i.ID)
			}
		}
	}
	if disable && w.serves(ip) && len(instances) == 0 {
		d.warn(nothingRunsMore)
	}
	var unknown string
	d.plan.Moves, unknown = w.moves(cfg, instances)
	d.warn(unknown)
}

// serverFollowed tells how many items still have to move from or to a server.
func serverFollowed(w *world, ip string, disable bool) Progress {
	cfg := w.state.Config
	if !cfg.Exists() {
		return Progress{Overtaken: true, Text: jobRemoved}
	}
	if w.operated.Value.DisabledServers != nil || w.state.JobDisabled() {
		return done("the job is disabled")
	}
	if w.state.Server(ip).Disabled != disable {
		return Progress{Overtaken: true, Text: fmt.Sprintf("server %s is %s again", ip, enabledWord(!disable))}
	}
	instances := w.enabled(nil)
	if len(instances) == 0 {
		return done(nobodyEnabled)
	}
	moves, unknown := w.moves(cfg.Value, instances)
	if unknown == "" {
		total := w.total()
		p := reached(total-min(len(moves), total), total, "items are where they are to be")
		if !p.Done {
			p.Text += w.butNobodyLeads()
		}
		return p
	}
	owned := 0
	for item := range w.total() {
		if jobtree.ServerOf(w.state.Owner(item)) == ip {
			owned++
		}
	}
	if disable {
		return Progress{Done: owned == 0, Of: owned, Text: "items have to move"}
	}
	return Progress{Done: w.state.Necessary == 0, Text: "a resharding is asked for"}
}
