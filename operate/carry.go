package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// deed is an operation on one job: what it is called, how it is decided, and when the job has followed.
type deed struct {
	verb   Verb
	job    string
	target string
	// decide is pure. Its error is a [*Refusal], or [ErrInvalidOption].
	decide func(w *world) (decision, error)
	// followed tells how far the job has followed, in a state at or past the commit. nil: it has at once.
	followed func(w *world, r Result) Progress
	// ends tells that followed is about what ends here, so that a job which leaves for another registry has followed, too.
	ends bool
	// rest does what belongs to the deed and has no room in its transaction. If the operator dies before, whoever asks
	// again with the id goes on. nil: nothing does.
	rest func(ctx context.Context, store registry.Committer, look func(context.Context, registry.Revision) (*jobtree.State, error), did registry.Revision) error
	// was tells of an operation of the same id and verb whether it was this very one. nil: it was, if the targets are
	// the same. If it was not, this one takes its place: it goes on where that one came to.
	was func(op jobtree.Operation) bool
	// asked are the first of the fires that are asked for one after the other under one id, and their items, in words. An
	// operation that was asked for other items, or for none as early, is not gone on with.
	asked span
	// content is a digest of what is asked for under an id, where whoever asks again decides none of that anew: another one
	// was not done. Empty: what was done under the id was this.
	content string
	// stands tells whether another content is in force already, so that nothing is lost of it. nil: it is not.
	stands func(w *world) bool
	// sent is what was decided for a transaction of it that may have been done before it is carried out; nil: none may.
	sent *Result
}

// span is what a backfill was asked for.
type span struct {
	first time.Time // zero: nothing is known of it
	items string    // empty are all
}

// spanOf returns what an operation that was done was asked for.
func spanOf(op jobtree.Operation) span {
	first, _ := time.Parse(time.RFC3339Nano, op.First)
	return span{first: first, items: op.Items}
}

// within tells whether all that is asked for belongs to an operation that was asked for by.
func (s span) within(by span) bool {
	return by.first.IsZero() || !s.first.Before(by.first) && s.items == by.items
}

// decision is what a deed comes to in one state of the job.
type decision struct {
	plan Plan // changes, moves, next and warnings; the shell fills in the rest
	// compare is what the decision relies on, besides config and operated.
	compare []registry.Condition
	// write is what is done, besides what is written down.
	write []registry.Write
	// more tells that something is left for the rest of the deed.
	more bool
	// before is the text of the configuration that is replaced.
	before string
	// note changes what is written down beside the operation itself.
	note func(*jobtree.Operated)
}

// warn adds a warning, if there is one.
func (d *decision) warn(text string) {
	if text != "" {
		d.plan.Warnings = append(d.plan.Warnings, text)
	}
}

// carry does a deed: it reads, decides and commits, again if something that it relied on has changed meanwhile, and
// waits for the job to follow if it is to.
func (o *Operator) carry(ctx context.Context, d deed, opts Options) (Result, error) {
	r := Result{Plan: Plan{Verb: d.verb, Job: d.job, Target: d.target}, ID: opts.id()}
	if d.sent != nil {
		r = *d.sent
	}
	if err := opts.check(); err != nil {
		return r, err
	}
	if err := checkName(d.job); err != nil {
		return r, d.completed(err)
	}
	view, err := o.store.View(ctx, jobtree.For(d.job).Root())
	if err != nil {
		return r, d.completed(denied(err))
	}
	defer view.Close()
	if r, err = o.commit(ctx, view, d, opts, r); err != nil || opts.DryRun || !opts.Wait {
		return r, err
	}
	return o.await(ctx, view, d, opts, r)
}

// commit decides and commits until one decision holds.
func (o *Operator) commit(ctx context.Context, view *registry.View, d deed, opts Options, r Result) (Result, error) {
	unsure := error(nil) // why nobody knows what became of an earlier try
	may := d.sent != nil // the last try may have done it, whatever it came to
	if opts.Since != 0 && opts.Since > o.worldOf(d.job, view.Snapshot(), opts.Force).number() {
		// It may have been read where more was seen than here.
		if err := o.catchUp(ctx, view); err != nil {
			return r, d.completed(denied(err))
		}
	}
	for {
		w := o.worldOf(d.job, view.Snapshot(), opts.Force)
		dec, again, err := d.judge(w, r.ID, opts)
		mine := again && may // it was this call that did it
		r.Repeated = again && !mine
		if unsure == nil && !mine { // else it stays the state before what may have been done
			r.When, r.State, r.Config = w.now, w.number(), w.state.Config.Revision
		}
		if again {
			r.Revision = w.triggeredBy(r.ID, d.target)
			op, _ := w.operated.Value.Find(r.ID)
			r.Came, r.replaced = fireOf(op.Target), r.Revision == 0 && op.Target == d.target
			if !mine {
				r.Was = &operationsOf(d.job, jobtree.Operated{Operations: []jobtree.Operation{op}})[0]
			} else {
				if d.verb != VerbTrigger && d.verb != VerbBackfill { // whose request has the number
					r.Revision = w.writtenBy(r.ID)
				}
				o.report(ctx, r, opts.Reason)
			}
			return r, o.finish(ctx, view, d, opts, r, w.java && r.Revision != 0)
		}
		if unsure != nil {
			return r, unsure
		}
		if err != nil {
			return r, d.completed(err)
		}
		r.take(dec.plan)
		r.Before = dec.before
		if opts.Shown != nil && !opts.Shown.Same(r.Plan) {
			return r, d.completed(stale(opts.Shown.differenceTo(r.Plan)))
		}
		if opts.DryRun {
			return r, nil
		}
		r.Revision, err = o.store.Commit(ctx, o.transaction(w, dec, d, r, opts.Reason))
		switch conflict := (*registry.ConflictError)(nil); {
		case err == nil:
			o.report(ctx, r, opts.Reason)
			return r, o.finish(ctx, view, d, opts, r, dec.more)
		case errors.As(err, &conflict):
			may = conflict.Ambiguous
			if err = view.WaitRevision(ctx, conflict.Revision); err != nil && may {
				err = fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, err)
			}
		case errors.Is(err, registry.ErrUnknownOutcome) && ctx.Err() == nil:
			// What must not be sent twice may be done yet. If it is seen to be done, it is; else nobody knows.
			unsure, may = err, true
			if err = o.catchUp(ctx, view); err != nil { // which is no answer to whether it was done
				return r, d.completed(fmt.Errorf("%w; it could not be looked at: %v", unsure, err)) //nolint:errorlint // nor is why
			}
		}
		if err != nil {
			return r, d.completed(denied(err))
		}
	}
}

// finish does the rest of a deed whose transaction is done, if there is more.
func (o *Operator) finish(ctx context.Context, view *registry.View, d deed, opts Options, r Result, more bool) error {
	if d.rest == nil || !more || opts.DryRun {
		return nil
	}
	look := func(ctx context.Context, at registry.Revision) (*jobtree.State, error) {
		err := view.WaitRevision(ctx, at)
		return o.worldOf(d.job, view.Snapshot(), opts.Force).state, err
	}
	if err := d.rest(ctx, o.store, look, r.Revision); err != nil {
		r.Progress = Progress{Text: "ask again with its id, which goes on where it stopped"}
		return &UnconfirmedError{Result: r, Err: denied(err)}
	}
	return nil
}

// report logs an operation that was done.
func (o *Operator) report(ctx context.Context, r Result, reason string) {
	o.log.InfoContext(ctx, "operation", "job", r.Job, "verb", string(r.Verb), "target", r.Target, "id", r.ID,
		"who", o.who, "how", o.how, "reason", reason, "changed", lines(r.Changes), "revision", int64(r.Revision))
}

// judge decides, unless an operation of this id was done already. What is asked for again is not decided anew, but for
// a reason why it cannot be.
func (d deed) judge(w *world, id string, opts Options) (dec decision, again bool, err error) {
	if err := w.readable(); err != nil {
		return decision{}, false, err
	}
	op, is := w.operated.Value.Find(id)
	switch {
	case !is:
	case op.Verb != string(d.verb) || d.was == nil && op.Target != d.target, !d.asked.within(spanOf(op)):
		return decision{}, false, refuse(CauseUsed, "take another id, or none", "the id %q is that of an operation that was done: %s, %s",
			id, name(Verb(op.Verb), d.job, op.Target), credit(op))
	case d.content != "" && op.Asked != "" && op.Asked != d.content && (d.stands == nil || !d.stands(w)):
		other := "for another fire or with another parameter"
		switch d.verb {
		case VerbSettings, VerbCreate:
			other = "with other settings"
		case VerbBackfill:
			other = "with another parameter"
		}
		return decision{}, false, refuse(CauseUsed, "take another id, or none", "the id %q is that of an operation that was done, %s: %s, %s",
			id, other, name(Verb(op.Verb), d.job, op.Target), credit(op))
	case d.was == nil || d.was(op):
		return decision{}, true, nil
	}
	w.id = id
	dec, err = d.decide(w)
	const look = "look at what was done since, and ask with another id if it is still wanted"
	switch {
	case err != nil:
	case opts.Again && !is: // else the job tells that it did not come so far
		return decision{}, false, refuse(CauseOvertaken, look, "it was done, and the job does not know the id %q any more", id)
	case opts.Since != 0 && !is && !w.tellsSince(opts.Since):
		return decision{}, false, refuse(CauseOvertaken, look, "it may have been done since revision %d, and the job would not know the id %q any more", opts.Since, id)
	}
	return dec, false, err
}

// number is that of the state, for [Options.Since]: its revision, as fencing tokens count it. So the numbers of a job that was
// moved to another registry go on above all that its former one can have given.
func (w *world) number() registry.Revision {
	return registry.Revision(w.state.Tokens().Value.Of(w.state.Revision))
}

// writtenBy returns the commit that did an operation, or 0 if something was written down since.
func (w *world) writtenBy(id string) registry.Revision {
	if all := w.operated.Value.Operations; len(all) == 0 || all[len(all)-1].ID != id {
		return 0
	}
	return w.operated.Revision
}

// tellsSince tells whether an operation of which the job does not know was not done after the state of a number. What is not
// there runs nothing twice; and a job that was made anew does not know what was done to its predecessor, nor one that was
// moved what its list had dropped before. A number above that of the state is not of this job: its predecessor had come from
// another registry, and counted from there.
func (w *world) tellsSince(number registry.Revision) bool {
	config, tokens := w.snapshot.Get(w.tree.Config()), w.state.Tokens()
	since := number - registry.Revision(tokens.Value.Base)
	return !config.Exists() || tokens.Err == nil && number <= w.number() && config.Created <= since &&
		w.operated.Value.TellsSince(since, w.operated.Revision)
}

// readable refuses what would spoil what is written down of operations, or what others read.
func (w *world) readable() error {
	if r := w.elsewhere(); r != nil {
		return r
	}
	switch err := w.operated.Err; {
	case err == nil:
		return nil
	case errors.Is(err, jobtree.ErrNewerFormat):
		r := refuse(CauseNewer, "use that version", "a newer version operates this job")
		r.Err = err
		return r
	case w.force: // what cannot be read is given up
		w.operated.Value = jobtree.Operated{}
		return nil
	default:
		r := refuse(CauseUnreadable, "look at the node, and force the operation to begin a new list", "what was done to the job cannot be read")
		r.Err, r.Forcible = err, true
		return r
	}
}

// transaction is T11: what the decision writes, and the operation, written down with it.
func (o *Operator) transaction(w *world, d decision, of deed, r Result, reason string) registry.Txn {
	operated, asked := w.operated.Value, of.asked
	if d.note != nil {
		d.note(&operated)
	}
	if earlier, is := operated.Find(r.ID); is && !spanOf(earlier).first.IsZero() {
		asked = spanOf(earlier)
	}
	operated.Operations = slices.DeleteFunc(slices.Clone(operated.Operations), func(op jobtree.Operation) bool { return op.ID == r.ID })
	op := jobtree.Operation{
		ID: r.ID, Verb: string(r.Verb), Target: r.Target, Who: o.who, How: o.how, When: r.When,
		Reason: reason, Changed: summary(r.Changes), Before: d.before, After: cmp.Or(w.operated.Revision, w.snapshot.Get(w.tree.Config()).Created),
		Asked: of.content,
	}
	if !asked.first.IsZero() {
		op.First, op.Items = asked.first.UTC().Format(time.RFC3339Nano), asked.items
	}
	operated = operated.With(op)
	txn := registry.Txn{
		If:   []registry.Condition{w.asRead(w.tree.Config()), w.asRead(w.tree.Operated())},
		Then: append(slices.Clone(d.write), registry.Put(w.tree.Operated(), jobtree.EncodeOperated(operated))),
	}
	for _, condition := range d.compare { // which may name the configuration as well
		if !slices.Contains(txn.If, condition) {
			txn.If = append(txn.If, condition)
		}
	}
	if w.state.Config.Exists() {
		// The first operation creates the node, which goes with the job alone, and so does the config that is compared.
		txn.Repeat = registry.RepeatCreation
	}
	return txn
}

// maxSummary bounds, in bytes, what an operation is said to have changed.
const maxSummary = 500

func summary(changes []Change) string {
	var text string
	for i, c := range changes {
		line := c.String()
		if i > 0 {
			line = "; " + line
		}
		if room := maxSummary - len(text); len(line) > room {
			if i == 0 {
				return strings.ToValidUTF8(line[:room], "") + "..."
			}
			return text + "; and more"
		}
		text += line
	}
	return text
}

// catchUp has the view show all that was answered before the call.
func (o *Operator) catchUp(ctx context.Context, view *registry.View) error {
	_, revision, err := o.store.List(ctx, view.Path())
	if err != nil {
		return err
	}
	return view.WaitRevision(ctx, revision)
}

// await returns when the job has followed.
func (o *Operator) await(ctx context.Context, view *registry.View, d deed, opts Options, r Result) (Result, error) {
	unconfirmed := func(err error) (Result, error) { return r, &UnconfirmedError{Result: r, Err: err} }
	if r.Revision != 0 {
		if err := view.WaitRevision(ctx, r.Revision); err != nil {
			r.Progress = Progress{Text: "the job was not seen since"}
			return unconfirmed(err)
		}
	}
	for {
		snapshot := view.Snapshot()
		r.Progress = done("")
		if d.followed != nil {
			w := o.worldOf(d.job, snapshot, opts.Force)
			if r.Progress = d.followed(w, r); !d.ends && w.elsewhere() != nil { // what is left of it here says nothing
				r.Progress = w.left()
			}
		}
		if opts.Progress != nil {
			opts.Progress(r.Progress)
		}
		switch {
		case r.Progress.Done:
			return r, nil
		case r.Progress.Overtaken:
			return unconfirmed(errOvertaken)
		}
		if err := nextLook(ctx, view, snapshot.Revision(), r.Progress.again); err != nil {
			return unconfirmed(err)
		}
	}
}

// nextLook returns when a view shows a newer state, or it is time to look again.
func nextLook(ctx context.Context, view *registry.View, seen registry.Revision, again time.Time) error {
	upTo, cancel := ctx, context.CancelFunc(func() {})
	if !again.IsZero() {
		left := max(time.Until(again), 0)
		upTo, cancel = context.WithTimeout(ctx, max(left, left+time.Millisecond)) // which may be for ever
	}
	defer cancel()
	_, err := view.WaitFor(upTo, func(s registry.Snapshot) bool { return s.Revision() > seen })
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && upTo.Err() == nil: // the view has ended
		return err
	}
	return nil
}

var errOvertaken = errors.New("somebody did something else meanwhile")

// stale refuses a plan that was shown and is another by now.
func stale(changes []Change) *Refusal {
	r := refuse(CauseStale, "look at it again", "it would not be any more what was shown")
	r.Changes = changes
	return r
}

// denied makes refusals of what the registry refuses for good.
func denied(err error) error {
	var r *Refusal
	switch {
	case errors.Is(err, registry.ErrDenied):
		r = refuse(CauseDenied, "ask somebody whose user may read and write below the job, or have yours allowed to", "the registry does not let this user do it")
	case errors.Is(err, registry.ErrTooLarge):
		r = refuse(CauseTooLarge, "do it in smaller parts", "the registry does not take so much at once")
	case errors.Is(err, registry.ErrOwned):
		r = refuse(CauseOwned, "find out who wrote it by hand, in a session, and delete the node that is named", "a session owns what is to be written, which would outlive it so")
	case errors.Is(err, registry.ErrNoSpace):
		r = refuse(CauseNoSpace, "make room in the registry", "the registry is full, and takes no writes")
	default:
		return err
	}
	r.Err = err
	return r
}

// completed completes a refusal with what was refused.
func (d deed) completed(err error) error {
	var r *Refusal
	if errors.As(err, &r) && r.Verb == "" {
		r.Verb, r.Job, r.Target = d.verb, d.job, d.target
	}
	return err
}

// checkName refuses what is no name of a job.
func checkName(job string) error {
	if err := registry.CheckPath(jobtree.For(job).Root()); err != nil || job == "" || jobName(job) != job {
		r := refuse(CauseInvalid, "give the name of one job", "%q is no name of a job", job)
		r.Err = err
		return r
	}
	return nil
}

// jobName is the first segment of what is taken for the name of a job.
func jobName(job string) string {
	name, ok := jobtree.Parse(jobtree.For(job).Config())
	if !ok {
		return ""
	}
	return name.Job
}
