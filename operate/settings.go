package operate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
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
// It is refused if the id is that of a change to another Text, if the configuration is not what was shown, if the new one is
// not allowed or has another name or class, if it changes nothing, if it asks for what Java instances of the job cannot do,
// and, unless forced, if Java instances that come later could not, on ZooKeeper, if it lowers the total count, which ends
// items, or if it has a job run whose stored configuration cannot be read and that elasticron migrate keeps from running, or
// if it changes when the job fires to times that are over, which ends it. Such times that are stored already stand in
// nobody's way. A warning says if files own the settings, and put them back.
func (o *Operator) ChangeSettings(ctx context.Context, job string, s Settings, opts Options) (Result, error) {
	if (s.Change == nil) == (s.Text == "") {
		return Result{}, fmt.Errorf("%w: settings are changed either by Change or by Text", ErrInvalidOption)
	}
	if s.Text != "" && s.Shown == 0 {
		s.Shown = opts.shownConfig() // what replaces the whole is compared with the whole
	}
	d := deed{
		verb: VerbSettings, job: job, followed: settingsFollowed,
		decide: func(w *world) (decision, error) { return changeSettings(w, s) },
	}
	if s.Text != "" { // what a function makes of the settings is another thing each time
		d.content = digestOf(s.Text)
		d.stands = func(w *world) bool { return digestOf(w.snapshot.Get(w.tree.Config()).Value) == d.content }
	}
	return o.carry(ctx, d, opts)
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
	if _, faulty := jobtree.CheckNewConfig(w.tree.Job(), after); faulty != nil { // the text has no word for some of it
		return decision{}, invalid(faulty)
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
	if reason := jobtree.ClassStays(before, after); readable && reason != "" {
		return decision{}, invalid(&jobtree.ValueError{Field: "jobClass", Value: after.ClassName(), Reason: reason})
	}
	kept := false // whether it is disabled, against what was asked for
	switch {
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

// settingsFollowed tells whether the items are assigned as many as there are to be.
func settingsFollowed(w *world, _ Result) Progress {
	cfg := w.state.Config
	switch {
	case !cfg.Exists():
		return Progress{Overtaken: true, Text: jobRemoved}
	case cfg.Err == nil && cfg.Value.Disabled:
		return done("the job is disabled, and assigns its items when it is enabled")
	case cfg.Err != nil || len(w.enabled(nil)) == 0:
		return done(nobodyEnabled)
	case w.java && w.state.LedByJava():
		return done("a Java instance leads, and assigns items with its next round")
	}
	p := reached(w.state.Total(), cfg.Value.ShardingTotalCount, "items are assigned")
	if p.Done = w.state.Total() == cfg.Value.ShardingTotalCount; !p.Done {
		p.Text += w.butNobodyLeads()
	}
	return p
}
