package operate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// world is all that a decision may know: one state of a job's tree, and the time.
type world struct {
	snapshot   registry.Snapshot
	tree       jobtree.Tree
	state      *jobtree.State
	shared     bool   // Java instances may take part in the job, now or later
	java       bool   // a Java instance lives in it
	root       string // where the nodes of the registry lie for Java
	operated   jobtree.Stored[jobtree.Operated]
	now        time.Time
	force      bool
	id         string // of the operation that is decided
	strategies *sharding.Registry
}

// worldOf makes the world of a job.
func (o *Operator) worldOf(job string, snapshot registry.Snapshot, force bool) *world {
	w := &world{snapshot: snapshot, tree: jobtree.For(job), now: now(), force: force, strategies: o.strategies}
	w.root, w.shared = registry.JavaRoot(o.store)
	ofElasticJob3 := jobtree.LayoutOfConfig(snapshot.Get(w.tree.Config()).Value) == jobtree.ElasticJob3
	w.shared = w.shared || ofElasticJob3 // wherever its nodes were put
	w.java = w.shared && slices.ContainsFunc(w.instances(), jobtree.JavaInstance)
	if ofElasticJob3 {
		w.state = jobtree.ElasticJob3StateOf(job, snapshot)
	} else if w.java {
		w.state = jobtree.SharedStateOf(job, snapshot)
	} else {
		w.state = jobtree.StateOf(job, snapshot)
	}
	if n := snapshot.Get(w.tree.Operated()); n.Exists() {
		w.operated.Revision = n.Revision
		w.operated.Value, w.operated.Err = jobtree.DecodeOperated(n)
	}
	return w
}

// elasticJob3 tells whether the nodes of the job are written in the words of ElasticJob 3.x.
func (w *world) elasticJob3() bool { return w.state.Layout() == jobtree.ElasticJob3 }

// encode returns the text of a configuration, in the words of the job.
func (w *world) encode(cfg job.Config) (string, error) { return w.state.Layout().EncodeConfig(cfg) }

// decode reads the text of a configuration, in the words of the job.
func (w *world) decode(n registry.Node) (job.Config, error) {
	return w.state.Layout().DecodeConfig(w.snapshot.Get(w.tree.Root()).Value, n)
}

// instances are the ids of those who live.
func (w *world) instances() []string {
	var ids []string
	for n := range w.snapshot.Below(w.tree.Instances()) {
		if name, ok := jobtree.Parse(n.Path); ok && name.Kind == jobtree.KindInstance {
			ids = append(ids, name.Key)
		}
	}
	return ids
}

// asRead is the condition that a node is as the decision saw it.
func (w *world) asRead(path string) registry.Condition {
	return registry.Unchanged(path, w.snapshot.Get(path).Revision)
}

// enabled are the instances that may be given items, if without is not true of them.
func (w *world) enabled(without func(ip string) bool) []string {
	var ids []string
	for _, i := range w.state.Instances {
		if w.state.MayOwn(i) && (without == nil || !without(jobtree.ServerOf(i.ID))) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// serves tells whether an instance lives at an address.
func (w *world) serves(ip string) bool {
	return slices.ContainsFunc(w.state.Instances, func(i jobtree.Instance) bool { return jobtree.ServerOf(i.ID) == ip })
}

// total is how many items the job has; the configuration's count before there was an assignment.
func (w *world) total() int {
	if total := w.state.Total(); total > 0 {
		return total
	}
	return w.state.Config.Value.ShardingTotalCount
}

// running are the items that run.
func (w *world) running() (items []int) {
	for n := range w.state.Items() {
		if w.state.Item(n).Running.Exists() {
			items = append(items, n)
		}
	}
	return items
}

// moves tells which items get another owner when the job has this many items and these instances share them, without a
// request for a resharding. The text says why it is not known.
func (w *world) moves(cfg job.Config, instances []string) (moves []Move, unknown string) {
	if !w.state.MembersMatter() && cfg.ShardingTotalCount == w.state.Total() {
		return nil, ""
	}
	return w.resharding(cfg, instances)
}

// resharding is [world.moves] after a request.
func (w *world) resharding(cfg job.Config, instances []string) (moves []Move, unknown string) {
	if len(instances) == 0 {
		return nil, ""
	}
	strategy, err := w.strategies.Lookup(cfg.ShardingStrategy)
	if err != nil {
		return nil, fmt.Sprintf("which items move is not known here: the strategy %q is not", cfg.ShardingStrategy)
	}
	current := sharding.NewAssignment(cfg.ShardingTotalCount)
	for item := range current {
		current[item] = w.state.Owner(item)
	}
	wanted, err := sharding.Run(strategy, sharding.Request{
		Job: w.tree.Job(), Instances: instances, Total: cfg.ShardingTotalCount, Current: current,
	})
	if err != nil {
		return nil, fmt.Sprintf("which items move is not known here: %s", err)
	}
	for item, to := range wanted {
		if from := current[item]; from != to {
			moves = append(moves, Move{Item: item, From: from, To: to})
		}
	}
	for item := cfg.ShardingTotalCount; item < w.state.Total(); item++ {
		moves = append(moves, Move{Item: item, From: w.state.Owner(item)})
	}
	return moves, ""
}

// next are the next fires of a configuration; none if it cannot say.
func next(cfg job.Config, after time.Time, n int) []time.Time {
	schedule, err := cfg.Schedule()
	if err != nil {
		return nil
	}
	if _, delayed := cronexpr.DelayOf(schedule); delayed {
		return nil
	}
	return upcoming(schedule, after, n)
}

// known refuses what is about a job that is not there, or whose configuration cannot be read.
func (w *world) known() *Refusal {
	switch {
	case !w.state.Config.Exists():
		return refuse(CauseUnknownJob, "look at the names of the jobs, or create it", "there is no such job")
	case w.state.Config.Err != nil:
		r := refuse(CauseUnusable, "store one that can be read first: change the settings as a whole, or roll them back",
			"the job's configuration cannot be read")
		r.Err = w.state.Config.Err
		return r
	}
	return nil
}

// elsewhere refuses whatever is about a job whose home is another registry. Nothing consents to it: what stands in place of the
// configuration keeps those who slept through the move from running the job here, and a mover reads from it whether the
// job has arrived.
func (w *world) elsewhere() *Refusal {
	var away *jobtree.ElsewhereError
	if !errors.As(w.state.Config.Err, &away) {
		return nil
	}
	r := refuse(CauseUnusable, fmt.Sprintf("operate it in registry %q", away.Home), "this registry is not the home of the job")
	if away.Arriving || away.Leaving() {
		r.Do = "complete the move with elasticron move, which goes on where it stopped, and operate the job in its new home"
	}
	r.Err = away
	return r
}

// left is the progress of a job whose home is another registry.
func (w *world) left() Progress {
	var away *jobtree.ElsewhereError
	errors.As(w.state.Config.Err, &away)
	return Progress{Overtaken: true, Text: fmt.Sprintf("the job goes on in registry %q: ask there, with the same id", away.Home)}
}

// since tells who brought about what a node says, for whoever finds it so: the last operation with the verb and
// target.
func (w *world) since(verb Verb, target string) string {
	for _, op := range slices.Backward(w.operated.Value.Operations) {
		if op.Verb == string(verb) && op.Target == target {
			return " (" + credit(op) + ")"
		}
	}
	return ""
}

// madeBy tells who did the operation with an id, as since does.
func (w *world) madeBy(id string) string {
	if op, known := w.operated.Value.Find(id); known {
		return " (" + credit(op) + ")"
	}
	return ""
}

// credit tells who did an operation, when and why.
func credit(op jobtree.Operation) string {
	text := "by " + op.Who
	if op.How != "" {
		text += " with " + op.How
	}
	if !op.When.IsZero() {
		text += " at " + op.When.Format(time.RFC3339)
	}
	if op.Reason != "" {
		text += ": " + op.Reason
	}
	return text
}
