package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// ErrReplaced is what a backfill tells that went on after another trigger had taken the place of one of its fires. If it
// ends for nothing else, all other fires were carried out.
var ErrReplaced = errors.New("another trigger has taken its place, and whether all items had run for it is not known")

// MaxBackfill is how many fires one backfill has at most.
const MaxBackfill = 1_000

// BackfillResult says how far a backfill came.
type BackfillResult struct {
	ID   string      `json:"id"`
	Done []Result    `json:"done,omitempty"` // of each fire that has run
	Left []time.Time `json:"left,omitempty"` // the fires that have not, ascending; of a dry run those that no call with the id asked for
	// MayHaveRun says how many of the fires may have run before this call, as was known when it began.
	MayHaveRun MayHaveRun `json:"mayHaveRun,omitzero"`
	// Warnings are those of the plan of a dry run, and its notes: of the first fire that no call with the id has asked for.
	Warnings []string `json:"warnings,omitempty"`
	// Since is a state before the first of the fires was asked for, for [Options.Since] of who asks again for all of them.
	Since registry.Revision `json:"since,omitempty"`
}

// MayHaveRun are fires of a backfill that may have run already: those that are not newer than the newest one of which the job
// tells that it came to it. It keeps no more, so each of them has run or was missed. What has run is run again. Those that an
// earlier call with the id of the backfill came to are not among them: they are not run again.
type MayHaveRun struct {
	Fires int       `json:"fires"` // how many; 0 is none
	Last  time.Time `json:"last"`  // the newest fire that the job came to
}

// Backfill runs a job for fires that were not run, one after the other, in ascending order: each fire is a trigger,
// and the next follows when every item of the one before has run, but for items that are disabled; see
// [BackfillResult.Summary]. The caller drives it: if the context ends, or an
// item fails, what is left is in the result, to be asked for again. An item that is enabled between two fires runs for the one
// before, and the next fire waits for it. A backfill is one operation of the job, which
// says how far it has come: called again with its id, it leaves out the fires up to there. With other items, an earlier
// fire or another parameter it is another backfill, and refused. An item of theirs that
// failed does not stop it once more, nor does [ErrReplaced]; the error with which the call ends tells of it, too.
//
// Where executions are not recorded nobody sees when a fire has run, and the next would take its place unseen. So several fires
// of such a job are refused, and a backfill stops where its job becomes one: it says so of the fire under way, which is left.
// A single fire is asked for; see [BackfillResult.Unseen].
//
// It is refused as [Operator.Trigger] is, if other fires may have run than [Options.ShownRuns] says, and if one of the fires is
// not of the job's schedule, lies in the future or is named twice, or if there are more than [MaxBackfill]. Only Items,
// Parameter and Within of the trigger are heeded. Progress hears of the fire under way.
func (o *Operator) Backfill(ctx context.Context, job string, fires []time.Time, t Trigger, opts Options) (BackfillResult, error) {
	r := BackfillResult{ID: opts.id(), Left: slices.Clone(fires)}
	slices.SortFunc(r.Left, time.Time.Compare)
	opts.ID, opts.Wait, opts.Shown = r.ID, true, nil
	checked, mayHaveRun, err := o.checkBackfill(ctx, job, r.Left, t.Items, opts)
	if err != nil {
		return r, err
	}
	r.MayHaveRun = mayHaveRun
	r.Since = cmp.Or(opts.Since, checked.State)
	var before error   // of a fire of an earlier call
	var came time.Time // how far earlier calls had come, as far as is known
	asked, all := span{first: r.Left[0]}, slices.Clone(r.Left)
	if len(t.Items) > 0 {
		asked.items = itemList(slices.Sorted(slices.Values(t.Items)))
	}
	for len(r.Left) > 0 {
		t.Fire, t.Replace = r.Left[0], false
		var goesOn time.Time // the fire of this backfill for which items have not run yet
		d := triggerDeed(VerbBackfill, job, t)
		d.asked = asked
		decide := d.decide
		d.decide = func(w *world) (decision, error) {
			goesOn = time.Time{}
			if r := w.endUnseen(all, r.ID); r != nil {
				return decision{}, r
			}
			if agreed := opts.ShownRuns; agreed != nil {
				if r := w.ranMeanwhile(t, r.ID, *agreed); r != nil {
					return decision{}, r
				}
			}
			dec, err := decide(w)
			if isPending(err) {
				goesOn = w.goesOn(r.ID)
			}
			if err == nil && opts.Again { // who waited for the fire before in an earlier call has not heard how that ended
				err = w.failedBefore(r.ID, t)
			}
			if opts.DryRun && !goesOn.IsZero() {
				return w.planBehind(t, goesOn)
			}
			return dec, err
		}
		if !t.Fire.After(came) { // it was asked for before, so it is not decided anew
			d.decide = func(*world) (decision, error) {
				return decision{}, refuse(CauseOvertaken, "look at what ran since, and ask for the other fires with another id", "the %s was asked for before, and the job does not know the id %q any more", d.target, r.ID)
			}
		}
		result, err := o.carry(ctx, d, opts)
		if err != nil && !goesOn.IsZero() && !opts.DryRun {
			if err := o.awaitBefore(ctx, d, t, goesOn, opts, &r); err != nil {
				return r, also(before, err)
			}
			continue
		}
		if result.Repeated {
			came = result.Came
		}
		if result.Repeated && result.Revision == 0 && result.Progress.Overtaken { // it is long since
			result.Progress, err = done(triggeredBefore), nil
			if result.replaced {
				before = fmt.Errorf("fire %s: %w", fireTarget(t.Fire)[len("fire "):], ErrReplaced)
			}
		}
		if err != nil {
			return r, also(before, err)
		}
		if opts.DryRun {
			r.Left = slices.DeleteFunc(r.Left, func(fire time.Time) bool { return !fire.After(came) })
			if result.Repeated && len(r.Left) > 0 { // a plan is made of what is to be done
				continue
			}
			r.Warnings = slices.Concat(result.Warnings, result.Notes)
			return r, nil
		}
		r.Done = append(r.Done, result)
		r.Left = r.Left[1:]
		opts.Again, opts.Since = false, 0 // the fires behind it may not have run
		if failed := result.Progress.Failed(); len(failed) > 0 {
			err := failedFire(t.Fire, failed)
			if !result.Repeated {
				return r, also(before, err)
			}
			before = err // whoever goes on knows of it, or learns it when all else is done
		}
	}
	return r, before
}

func failedFire(fire time.Time, failed []ItemProgress) error {
	return fmt.Errorf("fire %s: %w", fire.UTC().Format(time.RFC3339), &ItemsFailedError{Items: failed})
}

// awaitBefore waits for the fire before the one that is next, until that may be asked for: an item was disabled, so that it did
// not count, and is enabled now.
func (o *Operator) awaitBefore(ctx context.Context, next deed, t Trigger, fire time.Time, opts Options, r *BackfillResult) error {
	asks := t
	t.Fire = fire
	d := triggerDeed(VerbBackfill, next.job, t)
	d.asked = next.asked
	followed := d.followed
	d.followed = func(w *world, result Result) Progress {
		p := followed(w, result)
		if _, err := trigger(w, VerbBackfill, asks); p.Done && isPending(err) && !w.goesOn(r.ID).IsZero() { // as one that is surplus runs
			p.Done, p.Text = false, "items have run, or will not, but others still run for it"
			if until := w.state.Triggered().Value.Until; until.After(w.now) {
				p.again = until
			}
		}
		return p
	}
	opts.Again, opts.Since = true, 0
	if told := opts.Progress; told != nil {
		opts.Progress = func(p Progress) {
			if !p.Done && !p.Overtaken { // it has been told before that this fire is
				told(p)
			}
		}
	}
	result, err := o.carry(ctx, d, opts)
	if err != nil {
		return err
	}
	if last := len(r.Done) - 1; last >= 0 && r.Done[last].Target == d.target {
		r.Done[last].Progress = result.Progress
	}
	if failed := result.Progress.Failed(); len(failed) > 0 {
		return failedFire(fire, failed)
	}
	return nil
}

func isPending(err error) bool {
	cause, _ := IsRefused(err)
	return cause == CausePending
}

// goesOn returns the fire that the backfill of an id has asked for last, if that is the trigger that stands and the job may run:
// of one that is being removed or moved nobody knows whether it ever goes on.
func (w *world) goesOn(id string) time.Time {
	op, _ := w.operated.Value.Find(id)
	asked := w.state.Triggered()
	if w.mayRun() != nil || w.state.JobDisabled() || op.Verb != string(VerbBackfill) || !asked.Exists() || asked.Value.Operation != id || !asked.Value.Fire.Equal(fireOf(op.Target)) {
		return time.Time{}
	}
	return asked.Value.Fire
}

// failedBefore tells which items of the fire that the backfill of an id has asked for last have failed, if that trigger stands.
func (w *world) failedBefore(id string, t Trigger) error {
	fire := w.goesOn(id)
	if fire.IsZero() {
		return nil
	}
	p := triggerFollowed(w, t, Result{ID: id, Revision: w.state.Triggered().Revision, Plan: Plan{Verb: VerbBackfill}})
	if failed := p.Failed(); len(failed) > 0 {
		return failedFire(fire, failed)
	}
	return nil
}

// planBehind plans a fire that is asked for when the one before has run, which goes on.
func (w *world) planBehind(t Trigger, before time.Time) (decision, error) {
	t.Replace = true
	d, err := trigger(w, VerbBackfill, t)
	d.plan.Notes = append(d.plan.Notes, fmt.Sprintf("fire %s goes on, and is waited for", before.UTC().Format(time.RFC3339)))
	return d, err
}

// Unseen is how many of the fires that are done are not known to have run, as executions were not recorded.
func (r BackfillResult) Unseen() (fires int) {
	for _, done := range r.Done {
		if done.Progress.Text == unrecorded {
			fires++
		}
	}
	return fires
}

// earlier is how many of the fires that are done were asked for before this call, which therefore knows nothing of their items.
func (r BackfillResult) earlier() (fires int) {
	for _, done := range r.Done {
		if len(done.Progress.Items) == 0 && done.Progress.Text == triggeredBefore {
			fires++
		}
	}
	return fires
}

// Idle is how many of the fires that are done ran nothing, as all of their items were disabled, or are none any more, when they
// were to begin.
func (r BackfillResult) Idle() (fires int) {
	for _, done := range r.Done {
		if done.idle() {
			fires++
		}
	}
	return fires
}

func (r Result) idle() bool {
	ran := func(it ItemProgress) bool { return it.State != ItemDisabled && it.State != ItemSurplus }
	return len(r.Progress.Items) > 0 && !slices.ContainsFunc(r.Progress.Items, ran)
}

// Disabled are the items that did not run for some of the fires that are done, as they were disabled. always tells that they
// did for none of those of which it is known.
func (r BackfillResult) Disabled() (items []int, always bool) {
	fires, of := 0, make(map[int]int) // for how many fires an item was disabled
	for _, done := range r.Done {
		if len(done.Progress.Items) > 0 {
			fires++
		}
		for _, it := range done.Progress.Items {
			if it.State == ItemDisabled {
				of[it.Item]++
			}
		}
	}
	always = true
	for item, n := range of {
		items, always = append(items, item), always && n == fires
	}
	slices.Sort(items)
	return items, always
}

// Summary says how many of the fires have run, and what of them has not, as "6 of 6 fires have run, but for item 1, which is
// disabled".
func (r BackfillResult) Summary() string {
	unseen, idle, earlier, all := r.Unseen(), r.Idle(), r.earlier(), len(r.Done)+len(r.Left)
	text := fmt.Sprintf("%d of %d fires have run", len(r.Done)-unseen-idle, all)
	if unseen == len(r.Done) && unseen > 0 {
		return fmt.Sprintf("%d of %d fires %s asked for, and whether they ran cannot be seen, as %s", unseen, all, one(unseen, "was", "were"), unrecorded)
	}
	ran := BackfillResult{Done: slices.DeleteFunc(slices.Clone(r.Done), Result.idle)} // the others are told of below
	if list, always := ran.Disabled(); len(list) > 0 && always && earlier == 0 {
		text += fmt.Sprintf(", but for %s, which %s disabled", items(len(list), itemList(list)), one(len(list), "is", "are"))
	} else if len(list) > 0 {
		text += fmt.Sprintf(", some of them but for %s, which %s disabled then", items(len(list), itemList(list)), one(len(list), "was", "were"))
	}
	if idle > 0 {
		text += fmt.Sprintf("; %d more %s asked for and ran nothing, as all items were disabled: ask for %s with another id",
			idle, one(idle, "was", "were"), one(idle, "it", "them"))
	}
	if unseen > 0 {
		text += fmt.Sprintf("; %d more %s asked for, and whether they ran cannot be seen, as %s", unseen, one(unseen, "was", "were"), unrecorded)
	}
	if earlier > 0 {
		text += fmt.Sprintf("; %d of them %s asked for by an earlier call, which has said what ran", earlier, one(earlier, "was", "were"))
	}
	return text
}

// triggeredBefore is what is known of a fire that an earlier call has asked for, when others have come since.
const triggeredBefore = "triggered before"

// also returns an error that tells of one before it, if there is one.
func also(before, err error) error {
	if before == nil {
		return err
	}
	return errors.Join(before, err)
}

// ItemsFailedError names items that did not run to a good end.
type ItemsFailedError struct{ Items []ItemProgress }

// Error names the items and their states.
func (e *ItemsFailedError) Error() string {
	var all []string
	for _, it := range e.Items {
		text := fmt.Sprintf("item %d %s", it.Item, it.State)
		if it.Error != "" {
			text += " (" + it.Error + ")"
		}
		all = append(all, text)
	}
	return listed(all)
}

// fireTarget is what is written down of a backfill: how far it has come.
func fireTarget(fire time.Time) string { return "fire " + fire.UTC().Format(time.RFC3339Nano) }

func fireOf(target string) time.Time {
	fire, _ := time.Parse("fire "+time.RFC3339Nano, target)
	return fire
}

func (o *Operator) checkBackfill(ctx context.Context, job string, fires []time.Time, items []int, opts Options) (Result, MayHaveRun, error) {
	var may MayHaveRun
	id := opts.ID
	d := deed{verb: VerbBackfill, job: job, decide: func(w *world) (decision, error) {
		may = w.mayHaveRun(fires, items, id)
		if err := w.checkFires(fires); err != nil {
			return decision{}, err
		}
		if r := w.endUnseen(fires, id); r != nil {
			return decision{}, r
		}
		_, goesOn := w.operated.Value.Find(id)
		if agreed := opts.ShownRuns; agreed != nil && !goesOn { // else the schedule may have had later fires since it began
			for _, fire := range fires {
				if fire.After(agreed.Last) && !fire.After(may.Last) {
					return decision{}, otherRuns(len(fires), *agreed, may)
				}
			}
		}
		return decision{}, nil
	}}
	opts.DryRun, opts.Again, opts.ID, opts.Since = true, false, "", 0
	checked, err := o.carry(ctx, d, opts)
	return checked, may, err
}

// unasked returns the fires of a backfill, ascending, for which no call with its id has asked yet.
func (w *world) unasked(fires []time.Time, id string) []time.Time {
	begun, _ := w.operated.Value.Find(id)
	came := fireOf(begun.Target) // of one that has not begun, the zero time
	next := slices.IndexFunc(fires, func(fire time.Time) bool { return fire.After(came) })
	if next < 0 {
		return nil
	}
	return fires[next:]
}

// mayHaveRun says which fires may have run already, for these items; none are all. id is that of the backfill.
func (w *world) mayHaveRun(fires []time.Time, items []int, id string) (may MayHaveRun) {
	ran := func(fire time.Time) {
		if fire.After(may.Last) {
			may.Last = fire
		}
	}
	for n := range w.state.Items() {
		if len(items) > 0 && !slices.Contains(items, n) {
			continue
		}
		record := w.state.Item(n).Record.Value
		ran(record.LastFire)
		if e := record.Current; e != nil && e.Outcome != jobtree.NotStarted { // runs by hand leave the last fire alone
			ran(e.Fire)
		}
		if e, is := record.Previous(); is {
			ran(e.Fire)
		}
	}
	for _, op := range w.operated.Value.Operations {
		if op.Verb == string(VerbBackfill) && op.ID != id {
			ran(fireOf(op.Target))
		}
	}
	for _, fire := range w.unasked(fires, id) {
		if !fire.After(may.Last) {
			may.Fires++
		}
	}
	if may.Fires == 0 {
		return MayHaveRun{}
	}
	may.Last = may.Last.UTC()
	return may
}

// otherRuns refuses a backfill of fires of which others may have run by now than was shown.
func otherRuns(fires int, shown, now MayHaveRun) *Refusal {
	text := func(may MayHaveRun) string {
		if may.Fires == 0 {
			return "none"
		}
		return fmt.Sprintf("%d, those up to %s", may.Fires, may.Last.UTC().Format(time.RFC3339))
	}
	return stale([]Change{{What: fmt.Sprintf("which of %d fires may have run", fires), Before: text(shown), After: text(now)}})
}

// ranMeanwhile refuses the next fire of a backfill if it was run since a person has agreed to what may have: for another
// backfill, or by the schedule, which may make up what was missed. That the schedule is past the fire tells nothing.
func (w *world) ranMeanwhile(t Trigger, id string, agreed MayHaveRun) *Refusal {
	if !t.Fire.After(agreed.Last) {
		return nil
	}
	ran := slices.ContainsFunc(w.operated.Value.Operations, func(op jobtree.Operation) bool {
		return op.Verb == string(VerbBackfill) && op.ID != id && !t.Fire.After(fireOf(op.Target)) && !t.Fire.Before(spanOf(op).first)
	})
	for _, n := range w.asked(t) {
		record := w.state.Item(n).Record.Value
		previous, is := record.Previous()
		ran = ran || is && previous.Fire.Equal(t.Fire)
		if e := record.Current; e != nil && e.Outcome != jobtree.NotStarted {
			ran = ran || e.Fire.Equal(t.Fire)
		}
	}
	if !ran {
		return nil
	}
	return otherRuns(1, MayHaveRun{}, MayHaveRun{Fires: 1, Last: t.Fire})
}

// checkFires refuses fires that are not to be run again.
func (w *world) checkFires(fires []time.Time) error {
	if r := w.known(); r != nil {
		return r
	}
	schedule, err := w.state.Config.Value.Schedule()
	switch {
	case err != nil:
		return invalid(err)
	case len(fires) == 0:
		return noFires(schedule)
	case len(fires) > MaxBackfill:
		return refuse(CauseInvalid, "run them in parts", "%d fires are more than %d", len(fires), MaxBackfill)
	}
	for i, fire := range fires {
		at := fire.UTC().Format(time.RFC3339Nano)
		switch {
		case i > 0 && fire.Equal(fires[i-1]):
			return refuse(CauseInvalid, "name it once", "fire %s is named twice", at)
		case fire.After(w.now):
			return refuse(CauseInvalid, "leave it to the schedule", "fire %s lies in the future", at)
		case !schedule.Next(fire.Add(-time.Nanosecond)).Equal(fire):
			return refuse(CauseInvalid, "look at the fires of the schedule", "%s is no fire of the schedule %q", at, w.state.Config.Value.Cron)
		}
	}
	return nil
}

// endUnseen refuses a backfill that has a fire to ask for, one of several, where nobody sees when one has run: the next would
// take its place before. It is one of several if the backfill with the id has come to another before, too: it may be driven
// fire by fire.
func (w *world) endUnseen(fires []time.Time, id string) *Refusal {
	_, goesOn := w.operated.Value.Find(id)
	several := len(fires) > 1 || goesOn
	if w.java || w.state.Config.Value.Monitored() || !several || len(w.unasked(fires, id)) == 0 {
		return nil
	}
	return refuse(CauseInvalid, "trigger the fires one by one, when the one before has run, or switch monitorExecution on",
		"executions are not recorded, so nobody sees when a fire has run, and the next one would take its place")
}

// noFires refuses a backfill of nothing, with the reason if it is the schedule's.
func noFires(schedule cronexpr.Schedule) *Refusal {
	_, delayed := cronexpr.DelayOf(schedule)
	switch {
	case cronexpr.IsTriggered(schedule):
		return refuse(CauseInvalid, "trigger it", "there are no fires to be run: the job runs only when it is triggered")
	case delayed:
		return refuse(CauseInvalid, "trigger it", "there are no fires to be run: the job runs a while after its last run, and not at times that are known before")
	default:
		return refuse(CauseInvalid, "name some", "there are no fires to be run")
	}
}

// Fires returns the fires of a job between two times, both included, for a [Operator.Backfill]. The error is a
// [*Refusal] if there are more than [MaxBackfill].
func (o *Operator) Fires(ctx context.Context, job string, from, to time.Time) (fires []time.Time, err error) {
	d := deed{verb: VerbBackfill, job: job, decide: func(w *world) (decision, error) {
		if r := w.known(); r != nil {
			return decision{}, r
		}
		schedule, err := w.state.Config.Value.Schedule()
		if err != nil {
			return decision{}, invalid(err)
		}
		for at := range cronexpr.Between(schedule, from.Add(-time.Nanosecond), to) {
			if fires = append(fires, at); len(fires) > MaxBackfill {
				return decision{}, refuse(CauseInvalid, "take a shorter time", "there are more than %d fires", MaxBackfill)
			}
		}
		return decision{}, nil
	}}
	_, err = o.carry(ctx, d, Options{DryRun: true})
	if err != nil {
		return nil, err
	}
	return fires, nil
}
