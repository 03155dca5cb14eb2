package operate

import (
	"context"
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// ShutDown has an instance leave a job: what it runs ends by itself, its items move to others, and its process goes on
// with its other jobs until it starts anew. It is done when the instance is gone and runs no item of the job any more; until
// then a run is cut short by whoever ends the process. Runs of a job that does not record them, and those of a Java instance,
// cannot be seen; the plan warns of it. Nor can it be seen why an instance is gone: if its session ended before it learned of
// this, as that of a process which is cut off, nobody was shut down, and it takes part again when it reaches the registry. So the
// progress says, unless something that ran there was seen to outlive the leave. Who sees it back while waiting is told. It is
// refused if the instance does not take part, or is leaving already.
//
// From a Java instance the node is taken, as Java's own console does it. Beside ElasticJob
// 3.x it is taken from every instance. What runs there with failover on is then run again elsewhere; the plan warns of it.
func (o *Operator) ShutDown(ctx context.Context, job, instance string, opts Options) (Result, error) {
	return o.carry(ctx, shutDownDeed(job, instance), opts)
}

func instanceTarget(instance string) string { return "instance " + instance }

func shutDownDeed(job, instance string) deed {
	created := registry.Revision(0) // of the instance that was shut down; its process may come back under the same id. 0: earlier
	var session registry.SessionID  // of that instance
	outlived := false               // that session was seen to own something when the instance had gone by itself: it has learned of this
	return deed{
		verb: VerbShutDown, job: job, target: instanceTarget(instance),
		decide: func(w *world) (decision, error) {
			created, session = w.state.Instance(instance).Created, w.state.Instance(instance).Session
			return shutDown(w, instance)
		},
		followed: func(w *world, _ Result) Progress {
			i := w.state.Instance(instance)
			left := i.Created == 0 || created != 0 && i.Created != created || created == 0 && !i.Shutdown
			if created != 0 && left && i.Created != 0 && i.Session != session {
				return Progress{Overtaken: true, Of: 1, Text: "the instance is back under another session: its former one ended before it was seen to leave, or its process has started anew"}
			}
			since := registry.Revision(0)
			if left {
				since = i.Created // what a process runs that has come back is another matter
			}
			running := w.runningAt(instance, since)
			switch still := items(len(running), listed(running)); {
			case left && len(running) > 0:
				outlived = outlived || !w.elasticJob3() && slices.ContainsFunc(running, func(n int) bool { return session != 0 && w.state.Item(n).Running.Session == session })
				return Progress{Of: 1, Text: "the instance has left, and still runs " + still}
			case left && outlived:
				return reached(1, 1, "the instance is gone")
			case left:
				return reached(1, 1, "the instance is gone"+orAway)
			case len(running) > 0:
				return Progress{Of: 1, Text: "the instance is asked to leave, and runs " + still}
			default:
				return Progress{Of: 1, Text: "the instance is asked to leave"}
			}
		},
		ends: true,
	}
}

// orAway is what the registry does not tell of an instance that is gone.
const orAway = "; if it was cut off from the registry before it learned of this, it takes part again when it reaches it"

func shutDown(w *world, instance string) (decision, error) {
	if !w.state.Config.Exists() { // one that cannot be read does not keep an instance from leaving
		return decision{}, w.known()
	}
	i := w.state.Instance(instance)
	if i.Created == 0 {
		still := ""
		if running := w.runningAt(instance, 0); len(running) > 0 {
			still = ", and still runs " + items(len(running), listed(running))
		}
		return decision{}, refuse(CauseUnknownTarget, "look at the instances of the job", "the instance %q takes no part in the job%s", instance, still)
	}
	path := w.tree.Instance(instance)
	if w.snapshot.Get(path).Value == jobtree.InstanceShutdown {
		return decision{}, refuse(CauseAlready, "", "it is leaving already%s", w.since(VerbShutDown, instanceTarget(instance)))
	}
	d := decision{
		compare: []registry.Condition{registry.CreatedAt(path, i.Created)},
		write:   []registry.Write{registry.Update(path, jobtree.InstanceShutdown)},
		plan:    Plan{Changes: []Change{{What: instanceTarget(instance), Before: "takes part", After: "leaves"}}},
	}
	if w.elasticJob3() || w.java && jobtree.JavaInstance(instance) {
		d.write = []registry.Write{registry.Delete(path)}
	}
	if w.java && jobtree.JavaInstance(instance) {
		d.warn("the Java process stops the job at once, and goes on otherwise; whether a run of it still goes on there cannot be seen")
	} else if cfg := w.state.Config; cfg.Err == nil && !cfg.Value.Monitored() {
		d.warn(notRecorded)
	}
	again := w.runAgainWithout(i)
	stays := slices.DeleteFunc(w.runningAt(instance, 0), func(item int) bool { return slices.Contains(again, item) })
	if len(stays) > 0 {
		d.plan.Notes = append(d.plan.Notes, goOn(stays, " there"))
	}
	if len(again) > 0 {
		d.warn(fmt.Sprintf("%s there with failover on: %s, as ElasticJob 3.x takes this for a crash; to prevent that, stop the process",
			items(len(again), listed(again))+one(len(again), " runs", " run"),
			one(len(again), "it is run again elsewhere while it goes on", "they are run again elsewhere while they go on")))
	}
	if cfg := w.state.Config; cfg.Exists() && cfg.Err == nil && !cfg.Value.Disabled {
		others := slices.DeleteFunc(w.enabled(nil), func(id string) bool { return id == instance })
		if len(others) == 0 {
			d.warn(nothingRunsMore)
		}
		var unknown string
		d.plan.Moves, unknown = w.moves(cfg.Value, others)
		d.warn(unknown)
	}
	return d, nil
}

// runningAt are the items that an instance runs, whoever owns them by now, as it goes on with them when it has left: those
// that it has begun before a revision, or all if that is 0. Java's do not count: their marks do not say whose they are once
// the instance is gone.
func (w *world) runningAt(instance string, before registry.Revision) (items []int) {
	if jobtree.JavaInstance(instance) {
		return nil
	}
	for _, n := range w.running() {
		if begun := w.state.Item(n).Running.Created; w.state.Runner(n) == instance && (before == 0 || begun < before) {
			items = append(items, n)
		}
	}
	return items
}

// runAgainWithout are the items that others run again as soon as the node of an instance is gone.
func (w *world) runAgainWithout(i jobtree.Instance) (items []int) {
	for _, n := range w.running() {
		if w.state.MarkOutlives(n) && w.state.Item(n).Running.Session == i.Session {
			items = append(items, n)
		}
	}
	return items
}
