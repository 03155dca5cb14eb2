package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/javarules"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/registry"
)

// Settings says how the configuration of a job is to change: by a function or as a whole. Set one of the two.
type Settings struct {
	// Change changes the configuration as it is stored. It may be called more than once, and its error refuses the
	// operation.
	Change func(*job.Config) error
	// Text is the whole configuration as it is to be stored: the JSON of the config node. It may mend one that
	// cannot be read.
	Text string
	// Shown is the revision of the configuration that the operator has seen: if the stored one is another, the
	// operation is refused. 0 does not compare.
	Shown registry.Revision
	// ShownText is the text of the configuration that was seen, if it is at hand. The refusal then says what differs.
	ShownText string
}

// ChangeSettings changes the stored configuration of a job, for all its processes. Members that this version does not
// know stay. Whether the job is disabled stays too, whatever the new settings say: see [Operator.DisableJob]. It is
// done when the items are assigned as the new total count wants.
//
// It is refused if the configuration is not what was shown, if the new one is not allowed or has another name or
// class, if it changes nothing, if it asks for what Java instances of the job cannot do, and, unless forced, if Java
// instances that come later could not, on ZooKeeper, if it lowers the total count, which ends items, or if it has a job
// run whose stored configuration cannot be read and that elasticron migrate keeps from running. A warning says if files own the
// settings, and put them back.
func (o *Operator) ChangeSettings(ctx context.Context, job string, s Settings, opts Options) (Result, error) {
	if (s.Change == nil) == (s.Text == "") {
		return Result{}, fmt.Errorf("%w: settings are changed either by Change or by Text", ErrInvalidOption)
	}
	if s.Text != "" && s.Shown == 0 {
		s.Shown = opts.shownConfig() // what replaces the whole is compared with the whole
	}
	return o.carry(ctx, deed{
		verb: VerbSettings, job: job, followed: settingsFollowed,
		decide: func(w *world) (decision, error) { return changeSettings(w, s) },
	}, opts)
}

func changeSettings(w *world, s Settings) (decision, error) {
	stored := w.snapshot.Get(w.tree.Config())
	if !stored.Exists() {
		return decision{}, w.known()
	}
	if s.Shown != 0 && s.Shown != stored.Revision {
		return decision{}, w.otherThanShown(s, stored)
	}
	if s.Change == nil {
		return w.overFiles(w.replaceSettings(s.Text))
	}
	if r := w.known(); r != nil {
		return decision{}, r
	}
	after := w.state.Config.Value
	after.Props = maps.Collect(maps.All(after.Props)) // a map of its own, also if there are none
	if err := s.Change(&after); err != nil {
		return decision{}, invalid(err)
	}
	if after.Disabled != w.state.Config.Value.Disabled {
		return decision{}, refuse(CauseInvalid, "disable or enable the job by its own operation", "settings do not disable or enable a job")
	}
	text, err := w.encode(after)
	if err != nil {
		return decision{}, invalid(err)
	}
	return w.overFiles(w.replaceSettings(text))
}

// overFiles has a decision on settings say that files own these, unless it stores what the files say.
func (w *world) overFiles(d decision, err error) (decision, error) {
	if mark := w.operated.Value.Files; err == nil && mark != nil && !mark.Gone {
		for _, write := range d.write {
			if write.Path == w.tree.Config() && digestOf(write.Value) != mark.Digest {
				d.warn(fmt.Sprintf("the files of %q own these settings, and a process that has the files puts them back: change them there", mark.Owner))
			}
		}
	}
	return d, err
}

// otherThanShown refuses settings for a configuration that is not stored any more.
func (w *world) otherThanShown(s Settings, stored registry.Node) *Refusal {
	r := refuse(CauseStale, "look at it again, and decide anew", "the configuration was changed since it was shown: revision %d is not %d", stored.Revision, s.Shown)
	for _, op := range slices.Backward(w.operated.Value.Operations) {
		if op.Before != "" || op.Cut {
			r.Why += ", the last operation on it being " + op.Verb + " " + credit(op)
			break
		}
	}
	if s.ShownText != "" {
		before, _ := w.decode(registry.Node{Path: stored.Path, Value: s.ShownText, Revision: s.Shown})
		r.Changes = changes(before, w.state.Config.Value)
	}
	return r
}

// changes lists the members in which two configurations differ, without secrets.
func changes(before, after job.Config) (all []Change) {
	for _, m := range jobtree.ChangedMembers(before, after) {
		all = append(all, Change{What: m.Name, Before: m.Before, After: m.After})
	}
	if before.Unknown != after.Unknown {
		all = append(all, Change{What: "members that this version does not know", Before: fmt.Sprintf("%d bytes", len(before.Unknown)), After: fmt.Sprintf("%d bytes", len(after.Unknown))})
	}
	return all
}

// replaceSettings decides to store another text.
func (w *world) replaceSettings(text string) (decision, error) {
	stored := w.snapshot.Get(w.tree.Config())
	var d decision
	after, err := w.checkText(&d, text)
	if err != nil {
		return decision{}, err
	}
	before := w.state.Config.Value // the zero one, if it cannot be read
	readable := w.state.Config.Err == nil
	kept := false // whether it is disabled, against what was asked for
	switch {
	case readable && after.ClassName() != before.ClassName():
		return decision{}, invalid(&jobtree.ValueError{Field: "jobClass", Value: after.ClassName(), Reason: fmt.Sprintf("must stay %q: a class is what its processes have code for", before.ClassName())})
	case readable && after.Disabled != before.Disabled:
		d.warn(fmt.Sprintf("the job stays %s: settings do not change that", enabledWord(before.Disabled)))
		after.Disabled, kept = before.Disabled, true
		if text, err = w.encode(after); err != nil {
			return decision{}, invalid(err)
		}
	case !readable:
		d.warn("what is stored cannot be read, and is replaced as a whole")
		if after.Disabled {
			break
		}
		if r := w.migrating(&d); r != nil { // nobody can tell whether it was disabled for that
			return decision{}, r
		}
	}
	switch {
	case text == stored.Value && kept:
		return decision{}, refuse(CauseAlready, "disable or enable the job by its own operation", "the settings are so already, and do not disable or enable a job")
	case text == stored.Value:
		return decision{}, refuse(CauseAlready, "", "the settings are so already")
	}
	if w.operated.Value.Removing != "" {
		d.warn("the job is being removed")
	}
	if r := w.lowered(&d, after); r != nil {
		return decision{}, r
	}
	d.before = stored.Value
	d.write = []registry.Write{registry.Put(w.tree.Config(), text)}
	d.plan.Changes = changes(before, after)
	if len(d.plan.Changes) == 0 {
		d.plan.Changes = []Change{{What: "the text of the configuration", Before: fmt.Sprintf("%d bytes", len(stored.Value)), After: fmt.Sprintf("%d bytes, which mean the same", len(text))}}
	}
	d.plan.Next = next(after, w.now, 5)
	if !after.Disabled {
		var unknown string
		d.plan.Moves, unknown = w.moves(after, w.enabled(nil))
		d.warn(unknown)
	}
	return d, nil
}

// checkText judges a configuration that is to be stored.
func (w *world) checkText(d *decision, text string) (job.Config, error) {
	node := registry.Node{Value: text} // and no path, as it is not stored yet
	if w.elasticJob3() && jobtree.LayoutOfConfig(text) != jobtree.ElasticJob3 {
		return job.Config{}, refuse(CauseInvalid, "give the YAML as it is stored, with what is to change", "the settings of this job are the YAML of ElasticJob 3.x")
	}
	cfg, err := w.decode(node)
	if err != nil {
		return cfg, invalid(err)
	}
	checked := cfg
	if w.elasticJob3() { // which knows what it has written
		checked.Unknown = ""
	}
	warnings, faulty := jobtree.CheckNewConfig(w.tree.Job(), checked, w.now)
	if !w.elasticJob3() {
		faulty = errors.Join(faulty, jobtree.CheckExact(node))
	}
	if faulty != nil {
		return cfg, invalid(faulty)
	}
	if warnings != nil {
		for warning := range strings.SplitSeq(warnings.Error(), "\n") {
			d.warn(warning)
		}
	}
	warnOfCalls(d, cfg)
	if r := w.beyondJava(d, cfg); r != nil {
		return cfg, r
	}
	return cfg, nil
}

// warnOfCalls tells of settings with which a job of class HTTP would pause, without their values, which may be secret. Its
// processes may be of a later version, which knows more.
func warnOfCalls(d *decision, cfg job.Config) {
	if cfg.ClassName() != httpjob.Class {
		return
	}
	err := httpjob.Check(cfg)
	if err == nil {
		return
	}
	for _, fault := range err.(interface{ Unwrap() []error }).Unwrap() {
		var field *job.FieldError
		if errors.As(fault, &field) {
			d.warn(fmt.Sprintf("the job would pause: %s %s", field.Field, field.Reason))
		}
	}
}

// beyondJava refuses what Java instances could not read or run, where they take part or may, and what is stored does not
// have already. Where none lives, that is up to the operator.
func (w *world) beyondJava(d *decision, cfg job.Config) *Refusal {
	if !w.shared {
		return nil
	}
	longest := ""
	for _, id := range w.instances() {
		if len(id) > len(longest) {
			longest = id
		}
	}
	rules, force := javarules.Faults, !w.java
	if w.elasticJob3() { // which refuses the whole configuration, and every process of the job reads it by the same rules
		rules, force = javarules.Faults3, false
	}
	known := make(map[string]bool)
	if w.state.Config.Exists() && w.state.Config.Err == nil {
		for _, fault := range rules(w.root, longest, w.state.Config.Value) {
			known[fault.Error()] = true
		}
	}
	faults := slices.DeleteFunc(rules(w.root, longest, cfg), func(fault error) bool { return known[fault.Error()] })
	if len(faults) == 0 {
		return nil
	}
	if w.force && force {
		for _, fault := range faults {
			d.warn("no Java instance could run the job: " + fault.Error())
		}
		return nil
	}
	r := refuse(CauseInvalid, "store what Java can run", "")
	if r.Err, r.Forcible = errors.Join(faults...), force; r.Forcible {
		r.Do = "force it if no Java instance is to run the job"
	}
	return r
}

// lowered refuses fewer items than there are without consent, and says what happens to those.
func (w *world) lowered(d *decision, after job.Config) *Refusal {
	total := w.state.Config.Value.ShardingTotalCount // to which somebody has consented, whether or not it is in force yet
	if w.state.Config.Err != nil {
		total = w.state.Total()
	}
	if after.ShardingTotalCount >= total {
		return nil
	}
	gone := fmt.Sprintf("items %d to %d end: their missed fires are dropped, and they run no more", after.ShardingTotalCount, total-1)
	if after.ShardingTotalCount == total-1 {
		gone = fmt.Sprintf("item %d ends: its missed fires are dropped, and it runs no more", total-1)
	}
	if !w.force {
		r := refuse(CauseInvalid, "force it if they are to end", "the total count goes from %d to %d: %s", total, after.ShardingTotalCount, gone)
		r.Forcible = true
		return r
	}
	d.warn(gone)
	return nil
}

// settingsFollowed tells whether the items are assigned as many as there are to be.
func settingsFollowed(w *world, _ Result) Progress {
	cfg := w.state.Config
	switch {
	case !cfg.Exists():
		return Progress{Overtaken: true, Text: "the job was removed"}
	case cfg.Err == nil && cfg.Value.Disabled:
		return done("the job is disabled, and assigns its items when it is enabled")
	case cfg.Err != nil || len(w.enabled(nil)) == 0:
		return done("no instance lives that is enabled")
	case w.java && w.state.LedByJava():
		return done("a Java instance leads, and assigns items with its next round")
	}
	return Progress{Done: w.state.Total() == cfg.Value.ShardingTotalCount, Ready: w.state.Total(), Of: cfg.Value.ShardingTotalCount, Text: "items are assigned"}
}

// RollBack stores the configuration as it was before an operation that changed it, and leaves whether the job is
// disabled as it is today. The id of the operation is among those of [Operator.Operations].
//
// It is refused if there is no such operation any more, if it changed no settings or their text was too long to be
// kept, if a plan was shown and the configuration is not any more that on which it was made, and as
// [Operator.ChangeSettings] is.
func (o *Operator) RollBack(ctx context.Context, job, operation string, opts Options) (Result, error) {
	return o.carry(ctx, deed{
		verb: VerbRollBack, job: job, target: "to before " + operation, followed: settingsFollowed,
		decide: func(w *world) (decision, error) { return rollBack(w, operation, opts.shownConfig()) },
	}, opts)
}

func rollBack(w *world, operation string, shown registry.Revision) (decision, error) {
	stored := w.snapshot.Get(w.tree.Config())
	switch {
	case !stored.Exists():
		return decision{}, w.known()
	case shown != 0 && shown != stored.Revision:
		return decision{}, w.otherThanShown(Settings{Shown: shown}, stored)
	}
	op, is := w.operated.Value.Find(operation)
	switch {
	case !is:
		return decision{}, refuse(CauseUnknownTarget, "look at the operations of the job", "the last %d operations of the job have none with the id %q", jobtree.MaxOperations, operation)
	case op.Cut:
		return decision{}, refuse(CauseUnknownTarget, "store the settings from a copy of yours", "the settings before it were too long to be kept")
	case op.Before == "":
		return decision{}, refuse(CauseUnknownTarget, "name one that did", "%s changed no settings", op.Verb)
	}
	text := op.Before
	if w.state.Config.Err != nil {
		return w.overFiles(w.replaceSettings(text))
	}
	before, err := w.decode(registry.Node{Path: w.tree.Config(), Value: text, Revision: 1})
	if err != nil {
		return decision{}, invalid(err)
	}
	if before.Disabled != w.state.Config.Value.Disabled {
		before.Disabled = w.state.Config.Value.Disabled
		if text, err = w.encode(before); err != nil {
			return decision{}, invalid(err)
		}
	}
	return w.overFiles(w.replaceSettings(text))
}

// Create stores a new job, for the processes that have code for its class. It is refused if there is a job of that
// name, or what is left of one that is being removed, if the configuration is not allowed, and, unless forced, if
// elasticron migrate keeps the job from running here.
func (o *Operator) Create(ctx context.Context, cfg job.Config, opts Options) (Result, error) {
	text, err := jobtree.EncodeConfig(cfg)
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

// CreateMarked is [Operator.CreateText] of a job some of whose servers and items are disabled from the start: the marks are
// stored in the transaction that creates it.
func (o *Operator) CreateMarked(ctx context.Context, job, text string, marks Marks, opts Options) (Result, error) {
	return o.carry(ctx, deed{
		verb: VerbCreate, job: job,
		decide: func(w *world) (decision, error) { return create(w, text, marks) },
		followed: func(w *world, _ Result) Progress {
			switch {
			case !w.state.Config.Exists():
				return Progress{Overtaken: true, Text: "the job was removed"}
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
