package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Files says whose files a job comes from, and which version of them is at hand. Whoever has the files declares the
// jobs in them again and again: several processes do, from files that need not be the same yet. The mark that is
// written down with each job says which files were heard last, and a version is never followed by a lower one, so those
// processes come to an end however their files differ.
type Files struct {
	Owner string // one name for all who have these files, and for nobody else
	// Version is that of what is at hand, above 0. One that is a time is lower than all others.
	Version int64
	// ByTime says that the version is when the file was changed that names the job, or the folder that does not, in
	// nanoseconds since 1970. Copies have several such times. So what was heard before, and was replaced, is heard again
	// only if it was changed after that, and who lacks a job is heard only if that came after the job.
	ByTime bool
	// Undated says of such a time that it is only when a copy came to whoever has it, however old the copy is: each pod of
	// Kubernetes gets the files of a ConfigMap anew. What was replaced is not heard again then, nor is who lacks a job.
	Undated bool
	// Before is what these very files said of the job until they were changed, if who has them knows that. If it is what
	// was heard last, then they were made of that, and are heard whatever their version is.
	Before string
	// Lacked is when it was heard that these very files name the job no more, as [LackHeard] tells, if who has them has said so
	// itself. If nothing was heard since, then they were made of that, and are heard whatever their version is: what was taken
	// away, as a mount was, has been put back.
	Lacked time.Time
}

func (f Files) check() error {
	if f.Owner == "" || len(f.Owner) > maxName || !utf8.ValidString(f.Owner) || f.Version <= 0 {
		return fmt.Errorf("%w: files of the owner %q with the version %d: want an owner of at most %d bytes of UTF-8, and a version above 0",
			ErrInvalidOption, f.Owner, f.Version, maxName)
	}
	return nil
}

// Gone says what becomes of a job that its files name no more.
type Gone string

// The values of [Gone].
const (
	GoneKeep    Gone = "keep"    // it goes on
	GoneDisable Gone = "disable" // it is disabled, until its files name it again
	GoneRemove  Gone = "remove"  // it is removed as by [Operator.Remove], also from instances that live
)

// TakeFiles makes a job as files have it: text is the JSON of its config node. It creates the job, changes its settings, or
// only marks the job as one of these files. Whether an existing job is disabled stays as operators have it; one that was
// disabled because its files did not name it is enabled. Files consent to fewer items. A removal that began because files did
// not name the job is called off; if it has deleted the configuration, it is brought to its end before. While an operator's is
// under way of a job that no file named, it is refused with [CausePending]: the files make the job anew after that.
//
// It is refused with [CauseAlready] if the job is so, and with [CauseFiles] if the job is one of another owner, or if
// other files of the owner decide: those of a higher version, those of the same version that were faster, or those that
// have replaced what these say. Settings that
// somebody else has changed since are put right by files that say what was heard last, whatever their version is. The
// other refusals are those of [Operator.Create] and [Operator.ChangeSettings].
func (o *Operator) TakeFiles(ctx context.Context, job, text string, files Files, opts Options) (Result, error) {
	if err := files.check(); err != nil {
		return Result{}, err
	}
	half := false // a removal by files has deleted the configuration, and not the rest
	d := deed{
		verb: VerbFiles, job: job, followed: settingsFollowed,
		decide: func(w *world) (decision, error) {
			operated := w.operated.Value
			half = !w.state.Config.Exists() && operated.Removing != "" && operated.Files != nil && operated.Files.Gone
			return takeFiles(w, text, files)
		},
	}
	r, err := o.carry(ctx, d, opts)
	if cause, _ := IsRefused(err); cause != CausePending || !half || opts.DryRun {
		return r, err
	}
	if err := o.finishHalf(ctx, job, r); err != nil {
		return r, err
	}
	return o.carry(ctx, d, opts)
}

// finishHalf deletes what a removal by files has left of a job: that cannot be taken back any more, and who has begun it may
// be gone.
func (o *Operator) finishHalf(ctx context.Context, job string, r Result) error {
	view, err := o.store.View(ctx, jobtree.For(job).Root())
	if err != nil {
		return denied(err)
	}
	defer view.Close()
	removal := deed{verb: VerbNoFiles, job: job, followed: nothingRuns, ends: true}
	_, err = o.finishRemoval(ctx, view, removal, Options{Force: true}, r)
	var unconfirmed *UnconfirmedError
	if errors.As(err, &unconfirmed) { // nothing of what was asked for is done
		if unconfirmed.Result.Progress.Overtaken {
			return nil
		}
		return unconfirmed.Err
	}
	return err
}

// LeaveFiles says that files do not name a job any more. It is refused with [CauseAlready] if that is noted already,
// and with [CauseFiles] if the job is not of this owner, or if files of the same or a higher version name it that are
// not what these have been before.
//
// A removal waits until nothing runs; see [Operator.Remove]. If it does not come to an end, the job stays disabled, and
// files of a higher version that name it again call the removal off. Who says it again, at whatever time, goes on with the
// removal, and nothing more is written down.
func (o *Operator) LeaveFiles(ctx context.Context, job string, files Files, gone Gone, opts Options) (Result, error) {
	if err := files.check(); err != nil {
		return Result{}, err
	}
	begun, before := false, "" // a removal that is under way, and the configuration that it removes
	d := deed{
		verb: VerbNoFiles, job: job,
		decide: func(w *world) (decision, error) {
			begun, before = w.operated.Value.Removing != "", w.snapshot.Get(w.tree.Config()).Value
			return leaveFiles(w, files, gone)
		},
	}
	if gone != GoneRemove {
		return o.carry(ctx, d, opts)
	}
	d.followed, d.ends = nothingRuns, true
	r, err := o.carry(ctx, d, Options{Reason: opts.Reason, ID: opts.ID, DryRun: opts.DryRun})
	switch cause, _ := IsRefused(err); {
	case opts.DryRun:
		return r, err
	case err != nil && (cause != CauseAlready || !begun):
		return r, err
	case begun:
		r.Before = before
	}
	view, err := o.store.View(ctx, jobtree.For(job).Root())
	if err != nil {
		return r, &UnconfirmedError{Result: r, Err: err}
	}
	defer view.Close()
	opts.Force = true // instances may live, which pause or leave the job
	return o.finishRemoval(ctx, view, d, opts, r)
}

// GiveUpFiles has a job be one of no files, whoever has owned it, and as it is: for a job whose files have gone with their worker,
// or are to have another owner. The next files that name it own it, so take it out of its former owner's before. It is refused
// with [CauseAlready] if the job is of no files.
func (o *Operator) GiveUpFiles(ctx context.Context, job string, opts Options) (Result, error) {
	return o.carry(ctx, deed{verb: VerbNoFiles, job: job, decide: giveUpFiles}, opts)
}

func giveUpFiles(w *world) (decision, error) {
	mark := w.operated.Value.Files
	switch {
	case !w.state.Config.Exists():
		return decision{}, w.known()
	case mark == nil || mark.Gone:
		return decision{}, refuse(CauseAlready, "", "the job is of no files")
	}
	var d decision
	d.plan.Changes = []Change{{What: "files", Before: mark.Owner, After: ""}}
	d.warn(fmt.Sprintf("a worker whose files of %q name it takes it back within half a minute: take its file away there before", mark.Owner))
	d.note = func(o *jobtree.Operated) { o.Files = nil }
	return d, nil
}

func takeFiles(w *world, text string, files Files) (decision, error) {
	mark, r := w.heard(files)
	if r != nil {
		return decision{}, r
	}
	digest := digestOf(text)
	same := mark.Digest == digest && !mark.Gone
	switch {
	case mark.Version == 0 || same || files.madeOf(mark): // nobody has been heard, or just these, or what they were
	case later(mark.Version, files.Version):
		return decision{}, w.otherFiles(files, mark, "files of a later version decide")
	case slices.Contains(mark.Past, digest) && !files.changedSince(mark):
		return decision{}, w.otherFiles(files, mark, "files that have replaced these decide, and "+files.notNewer())
	case mark.Version == files.Version:
		return decision{}, w.otherFiles(files, mark, "other files of the same version were faster")
	}
	if mark.Gone && w.state.Config.Exists() && w.operated.Value.Removing == jobtree.RemovingByOperator {
		return decision{}, refuse(CausePending, "wait until it is gone, for the files to make it anew, or enable the job to call that off",
			"the job is being removed%s", w.since(VerbRemove, ""))
	}
	d, err := w.asFilesHaveIt(text, mark)
	if cause, _ := IsRefused(err); cause == CauseAlready && (mark.Digest != digest || mark.Gone || mark.Version == 0) {
		d, err = decision{plan: Plan{Changes: []Change{{What: "files", Before: mark.Owner, After: files.Owner}}}}, nil
	}
	if err != nil {
		return decision{}, err
	}
	if mark.Gone && w.operated.Value.Removing != "" {
		d.plan.Changes = append(d.plan.Changes, Change{What: "removal", Before: "under way", After: "called off"})
	}
	now := nextMark(mark, files, w.now)
	if same {
		now.Heard, now.Past = mark.Heard, mark.Past
	}
	now.Digest = digest
	d.mark(now, mark.Gone)
	return d, nil
}

// madeOf tells whether files were made of what was heard last. A version that somebody gives decides alone.
func (f Files) madeOf(mark jobtree.Files) bool {
	if mark.Gone {
		return !f.Lacked.IsZero() && mark.Heard.Equal(f.Lacked) && (f.ByTime || !later(mark.Version, f.Version))
	}
	return f.Before != "" && mark.Digest == digestOf(f.Before) && (f.ByTime || !later(mark.Version, f.Version))
}

// changedSince tells whether files were changed after those that were heard last, as far as their version tells that.
func (f Files) changedSince(mark jobtree.Files) bool {
	return !f.ByTime || mark.Heard.IsZero() || !f.Undated && f.Version > mark.Heard.UnixNano()
}

// notNewer says why files count as not changed since others were heard.
func (f Files) notNewer() string {
	if f.Undated {
		return "the time of a mount does not tell whether these were changed since"
	}
	return "these were not changed since"
}

// later tells whether a version is higher than another; 0 is none. One that somebody gives is higher than any time:
// otherwise who gives the first one would not be heard.
func later(a, b int64) bool {
	if a > 0 && b > 0 && isTime(a) != isTime(b) {
		return isTime(b)
	}
	return a > b
}

// isTime tells whether a version is a time, in nanoseconds since 1970, from 1973 on; nobody counts that far.
func isTime(version int64) bool { return version > 1e17 }

// mostPast is how many digests of what was heard before are kept of a job. What is older has a lower version, too.
const mostPast = 8

// nextMark is the mark of files that are heard after those of another mark, without what they say.
func nextMark(mark jobtree.Files, files Files, now time.Time) jobtree.Files {
	version := files.Version
	if later(mark.Version, version) {
		version = mark.Version
	}
	past := slices.DeleteFunc(slices.Clone(mark.Past), func(p string) bool { return p == mark.Digest })
	if mark.Digest != "" {
		past = append(past, mark.Digest)
	}
	return jobtree.Files{
		Owner: files.Owner, Version: version, Heard: now, Past: past[max(0, len(past)-mostPast):], Unknown: mark.Unknown,
	}
}

// asFilesHaveIt decides to store what files say.
func (w *world) asFilesHaveIt(text string, mark jobtree.Files) (decision, error) {
	if !w.state.Config.Exists() {
		return create(w, text, Marks{})
	}
	var enabling decision
	if w.state.Config.Err != nil { // and so nobody can tell whether it is disabled
		if r := w.asFiles(func() *Refusal { return w.migrating(&enabling) }); r != nil {
			return decision{}, r
		}
	}
	w.force = true // files consent to fewer items
	if !mark.Disabled || w.state.Config.Err != nil {
		return w.otherSettings(text)
	}
	// It was disabled because no file named it.
	if w.operated.Value.Moving != nil && w.state.Config.Value.Disabled { // the move goes on, and it is enabled when it has arrived
		d, err := w.otherSettings(text)
		if cause, _ := IsRefused(err); err != nil && cause != CauseAlready {
			return decision{}, err
		}
		d.plan.Changes = append(d.plan.Changes, w.whereItGoes(false))
		d.note = func(o *jobtree.Operated) { o.Moving = asDisabled(o.Moving, false) }
		return d, nil
	}
	if r := w.asFiles(func() *Refusal { return w.migrating(&enabling) }); r != nil {
		return decision{}, r
	}
	if err := w.setDisabled(&enabling, false); err != nil {
		return decision{}, err
	}
	w.state.Config.Value.Disabled = false
	d, err := w.otherSettings(text)
	if cause, _ := IsRefused(err); cause == CauseAlready {
		return enabling, nil
	} else if err != nil {
		return decision{}, err
	}
	d.compare = append(d.compare, enabling.compare...)
	d.write = append(d.write, enabling.write[1:]...) // the first is the configuration
	d.plan.Changes = append(d.plan.Changes, enabling.plan.Changes...)
	d.note = enabling.note
	return d, nil
}

// asFiles asks whether elasticron migrate has the job, for files: these consent neither to a second run elsewhere nor to the
// end of a move.
func (w *world) asFiles(refused func() *Refusal) *Refusal {
	force := w.force
	w.force = false
	r := refused()
	if w.force = force; r != nil {
		r.Forcible = false
	}
	return r
}

// otherSettings is [world.replaceSettings], but settings that say the same in other words, or differ only in whether
// the job is disabled, are so already.
func (w *world) otherSettings(text string) (decision, error) {
	if cfg, err := jobtree.DecodeConfig(registry.Node{Value: text}); err == nil && w.state.Config.Err == nil {
		cfg.Disabled = w.state.Config.Value.Disabled
		was, err := jobtree.EncodeConfig(w.state.Config.Value)
		now, err2 := jobtree.EncodeConfig(cfg)
		stored, err3 := jobtree.DecodeConfig(w.snapshot.Get(w.tree.Config()))
		if errors.Join(err, err2, err3) == nil && was == now && stored.Disabled == cfg.Disabled {
			return decision{}, refuse(CauseAlready, "", "the settings are so already")
		}
		text = now
	}
	return w.replaceSettings(text)
}

func leaveFiles(w *world, files Files, gone Gone) (decision, error) {
	mark, r := w.heard(files)
	switch {
	case r != nil:
		return decision{}, r
	case mark.Owner != files.Owner:
		return decision{}, refuse(CauseFiles, "", "the job is of no files")
	case mark.Gone && later(mark.Version, files.Version) && (!files.ByTime || !isTime(mark.Version)):
		return decision{}, refuse(CauseFiles, "bring the newest files here, or give these a higher version",
			"files of a later version decide, which do not name it either (version %s)%s", versionText(mark.Version), w.since(VerbFiles, ""))
	case mark.Gone: // whichever time is later: they say the same, and whoever has begun a removal may be gone
		return decision{}, refuse(CauseAlready, "", "that is noted already")
	case !files.madeOf(mark) && !later(files.Version, mark.Version):
		return decision{}, w.otherFiles(files, mark, "files that name it decide")
	case !files.madeOf(mark) && !files.changedSince(mark):
		return decision{}, w.otherFiles(files, mark, "files that name it decide, and "+files.notNewer())
	}
	d := decision{plan: Plan{Changes: []Change{{What: "files", Before: "name the job", After: "do not"}}}}
	now := nextMark(mark, files, w.now)
	now.Gone, now.Disabled = true, mark.Disabled
	cfg := w.state.Config
	switch {
	case gone == GoneRemove && w.operated.Value.Removing == "":
		if r := w.asFiles(func() *Refusal { return w.removable(new(decision)) }); r != nil { // which the removal compares
			return decision{}, r
		}
		w.force = true // instances may live
		removal, err := beginRemoval(w)
		if err != nil {
			return decision{}, err
		}
		d, now.Disabled = removal, !w.staysDisabled()
		d.note = func(o *jobtree.Operated) {
			removal.note(o)
			o.Removing = jobtree.RemovingByFiles
		}
	case gone == GoneDisable && cfg.Exists() && cfg.Err == nil:
		if r := w.disabledToMove(); r != nil && cfg.Value.Disabled { // they say so again when it has arrived
			return decision{}, r
		}
		if w.staysDisabled() {
			break
		}
		if err := w.setDisabled(&d, true); err != nil {
			return decision{}, err
		}
		now.Disabled = true
	}
	d.mark(now, false)
	return d, nil
}

// heard is the mark of the files that were heard last; the zero one if there were none. Of another owner whose files name
// the job no more, only what they have left behind counts.
func (w *world) heard(files Files) (jobtree.Files, *Refusal) {
	mark := w.operated.Value.Files
	switch {
	case w.elasticJob3():
		return jobtree.Files{}, refuse(CauseUnusable, "change its settings by themselves, or move it with elasticron migrate first",
			"the settings of this job are the YAML of ElasticJob 3.x, and files have the JSON of others")
	case mark == nil:
		return jobtree.Files{}, nil
	case mark.Owner != files.Owner && mark.Gone:
		return jobtree.Files{Gone: true, Disabled: mark.Disabled, Unknown: mark.Unknown}, nil
	case mark.Owner != files.Owner:
		return jobtree.Files{}, refuse(CauseFiles, "name it in the files of one owner only", "the job is one of the files of %q", mark.Owner)
	}
	return *mark, nil
}

// otherFiles refuses what other files have decided.
func (w *world) otherFiles(files Files, mark jobtree.Files, why string) *Refusal {
	do := "bring the newest files here, or give these a higher version"
	if mark.Gone { // others of the owner have let go of a job that these name
		renew := "touch its file here"
		if files.Undated { // nobody can, in a mount
			renew = "change what they say of it"
		}
		why, do = why+"; other files do not name it", "if it is to be, have all files of this owner name it, and "+renew+"; else take it out here"
	}
	if mark.Gone && mark.Disabled {
		why += ", so it is disabled"
	}
	return refuse(CauseFiles, do, "%s (version %s)%s", why, versionText(mark.Version), w.since(VerbFiles, ""))
}

// mark has the decision write down which files were heard, and that no removal is under way.
func (d *decision) mark(mark jobtree.Files, stays bool) {
	inner := d.note
	d.note = func(o *jobtree.Operated) {
		if inner != nil {
			inner(o)
		}
		if stays {
			o.Removing = ""
		}
		o.Files = &mark
	}
}

// versionText shows a version as a time where it is one.
func versionText(version int64) string {
	if isTime(version) {
		return time.Unix(0, version).UTC().Format(time.RFC3339Nano)
	}
	return strconv.FormatInt(version, 10)
}

// FilesOf returns the names of the jobs in a state of a namespace that files of an owner name, and of those whose
// removal goes on because they do not any more.
func FilesOf(s registry.Snapshot, owner string) (names []string) {
	for n := range s.All() {
		name, ok := jobtree.Parse(n.Path)
		if !ok || name.Kind != jobtree.KindOperated {
			continue
		}
		all, err := jobtree.DecodeOperated(n)
		if err == nil && all.Files != nil && all.Files.Owner == owner && (!all.Files.Gone || all.Removing != "") {
			names = append(names, name.Job)
		}
	}
	return names
}

// LackHeard returns when it was heard that files of an owner do not name a job, if the operation of that id, by which it was
// heard, is the last one of the job. Else it is the zero time.
func LackHeard(operated registry.Node, owner, id string) time.Time {
	all, err := jobtree.DecodeOperated(operated)
	if err != nil || all.Files == nil || all.Files.Owner != owner || !all.Files.Gone {
		return time.Time{}
	}
	if n := len(all.Operations); n == 0 || all.Operations[n-1].ID != id {
		return time.Time{}
	}
	return all.Files.Heard
}

// AsFilesHaveIt tells whether a job is in a state of the registry as files of an owner have it, so that
// [Operator.TakeFiles] would be refused with [CauseAlready].
func AsFilesHaveIt(s registry.Snapshot, job, text, owner string) bool {
	tree := jobtree.For(job)
	stored, operated := s.Get(tree.Config()), s.Get(tree.Operated())
	if !stored.Exists() || !operated.Exists() || digestOf(stored.Value) != digestOf(text) {
		return false
	}
	all, err := jobtree.DecodeOperated(operated)
	return err == nil && all.Files != nil && all.Files.Owner == owner && all.Files.Digest == digestOf(text) && !all.Files.Gone
}
