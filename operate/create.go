package operate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Create stores a new job, for the processes that have code for its class. It is refused if there is a job of that
// name, or what is left of one that is being removed, if the configuration is not allowed, and, unless forced, if
// elasticron migrate keeps the job from running here. A job that never fires is not allowed; one that has fired for the last
// time is stored with a warning, as whoever brings back an export of a job has it so.
func (o *Operator) Create(ctx context.Context, cfg job.Config, opts Options) (Result, error) {
	_, err := jobtree.CheckNewConfig(cfg.Name, cfg) // of which the text has no word for some
	text := ""
	if err == nil {
		text, err = jobtree.EncodeConfig(cfg)
	}
	if err != nil {
		d := deed{verb: VerbCreate, job: cfg.Name}
		return Result{Plan: Plan{Verb: VerbCreate, Job: cfg.Name}}, d.completed(invalid(err))
	}
	return o.CreateText(ctx, cfg.Name, text, opts)
}

// CreateText is [Operator.Create] for the JSON of a config node, which is stored as it is, byte for byte.
func (o *Operator) CreateText(ctx context.Context, job, text string, opts Options) (Result, error) {
	return o.CreateMarked(ctx, job, text, Marks{}, opts)
}

// Marks say of a new job which of its servers and items are disabled. The zero Marks say nothing.
type Marks struct {
	Servers map[string]bool // by address, whether they are disabled
	Items   []int           // that are disabled
	// Stored says that whoever creates the job has stored the marks before, as they are too many for one transaction.
	Stored bool
}

// Writes are what stores the marks of a job, always in the same order.
func (m Marks) Writes(job string) (writes []registry.Write) {
	tree := jobtree.For(job)
	for _, ip := range slices.Sorted(maps.Keys(m.Servers)) {
		writes = append(writes, registry.Put(tree.Server(ip), jobtree.EncodeServer(m.Servers[ip])))
	}
	for _, item := range m.Items {
		writes = append(writes, registry.Put(tree.ItemDisabled(item), ""))
	}
	return writes
}

// digest tells marks from others; empty for none.
func (m Marks) digest() string {
	if len(m.Servers) == 0 && len(m.Items) == 0 {
		return ""
	}
	var text strings.Builder
	for _, write := range m.Writes("any") {
		fmt.Fprintf(&text, "%s %s\n", write.Path, write.Value)
	}
	return digestOf(text.String())
}

// CreateMarked is [Operator.CreateText] of a job some of whose servers and items are disabled from the start: the marks are
// stored in the transaction that creates it.
func (o *Operator) CreateMarked(ctx context.Context, job, text string, marks Marks, opts Options) (Result, error) {
	return o.carry(ctx, deed{
		verb: VerbCreate, job: job, content: digest(text, true) + marks.digest(),
		decide: func(w *world) (decision, error) { return create(w, text, marks) },
		followed: func(w *world, _ Result) Progress {
			switch {
			case !w.state.Config.Exists():
				return Progress{Overtaken: true, Text: jobRemoved}
			case len(w.state.Instances) == 0:
				return Progress{Of: 1, Text: "no instance takes part yet"}
			}
			return reached(1, 1, "an instance takes part")
		},
	}, opts)
}

func create(w *world, text string, marks Marks) (decision, error) {
	switch {
	case w.state.Config.Exists():
		return decision{}, refuse(CauseExists, "change its settings, or take another name", "there is such a job%s", w.since(VerbCreate, ""))
	case w.operated.Value.Removing != "":
		return decision{}, refuse(CausePending, "remove it once more, which goes on where that stopped", "a job of this name is being removed")
	}
	var d decision
	cfg, err := w.checkText(&d, text)
	if err != nil {
		return decision{}, err
	}
	if !marks.Stored {
		d.write = marks.Writes(w.tree.Job())
		for _, mark := range d.write {
			d.compare = append(d.compare, w.asRead(mark.Path))
		}
	}
	d.write = append(d.write, registry.Put(w.tree.Config(), text))
	if found := w.disabledBefore(marks); found != "" {
		d.plan.Notes = append(d.plan.Notes, found+" disabled by what somebody left who did not get to create the job")
	}
	d.plan.Changes = []Change{{What: "job", Before: "none", After: fmt.Sprintf("%s, %s, cron %q", cfg.ClassName(), itemCount(cfg.ShardingTotalCount), cfg.Cron)}}
	d.plan.Next = next(cfg, w.now, 5)
	if cfg.Disabled {
		d.warn("it is disabled")
	} else if r := w.migrating(&d); r != nil { // what a move says outlasts a configuration that was deleted by hand
		return decision{}, r
	}
	return d, nil
}

// disabledBefore names the servers and items of a job that does not exist yet that are disabled, but for those of which the
// marks tell, and says "is" or "are"; empty if there are none.
func (w *world) disabledBefore(marks Marks) string {
	var servers []string
	var numbers []int
	for _, s := range w.state.Servers {
		if _, told := marks.Servers[s.IP]; s.Disabled && !told {
			servers = append(servers, s.IP)
		}
	}
	for n := range w.state.Items() {
		if w.state.Disabled(n) && !slices.Contains(marks.Items, n) {
			numbers = append(numbers, n)
		}
	}
	var found []string
	if servers != nil {
		found = append(found, one(len(servers), "server ", "servers ")+listed(servers))
	}
	if numbers != nil {
		found = append(found, items(len(numbers), listed(numbers)))
	}
	if found == nil {
		return ""
	}
	return strings.Join(found, " and ") + one(len(servers)+len(numbers), " is", " are")
}
