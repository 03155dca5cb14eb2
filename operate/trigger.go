package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/byhand"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// DefaultTriggerWithin is how long after a trigger its items may begin, if nothing else is said.
const DefaultTriggerWithin = time.Hour

// Trigger says what is to run by hand. The zero Trigger is every item.
type Trigger struct {
	// Items are those that are to run; none are all.
	Items []int
	// Parameter is a text for the code of the items, at most 2,048 bytes.
	Parameter string
	// Fire is the fire that the runs stand for, as when one is run again; zero is none.
	Fire time.Time
	// Within is how long after the trigger an item may begin; what has not begun by then, by the clock of its
	// instance, does not begin any more. Zero is [DefaultTriggerWithin].
	Within time.Duration
	// Replace takes the place of a trigger that goes on. What has not begun for that one does not begin any more.
	Replace bool
}

// TriggerState says how far an item has come with a trigger.
type TriggerState string

// The states of an item of a trigger. The first three are on the way, the others final.
const (
	ItemAsked       TriggerState = "asked"       // it has not begun
	ItemRuns        TriggerState = "running"     // it runs for the trigger
	ItemRerun       TriggerState = "waiting"     // it was lost or cut short, and is to run again
	ItemSucceeded   TriggerState = "ok"          // it ran, and returned no error
	ItemFailed      TriggerState = "failed"      // it returned an error
	ItemInterrupted TriggerState = "interrupted" // it was cut short, and does not run again
	ItemLost        TriggerState = "lost"        // its process died, and it does not run again
	ItemRan         TriggerState = "ran"         // it ran, and ran again since: how it ended is not recorded any more
	ItemDisabled    TriggerState = "disabled"    // it does not begin, as it is disabled
	ItemSurplus     TriggerState = "surplus"     // it does not begin, as there is no such item any more, or the settings changed before it ever ran
	ItemReplaced    TriggerState = "replaced"    // it does not begin, as another trigger took the place of this one
	ItemLate        TriggerState = "late"        // it did not begin in time
	ItemTaken       TriggerState = "taken"       // a Java instance took the trigger; Java records no executions
)

// final tells whether nothing follows.
func (s TriggerState) final() bool { return s != ItemAsked && s != ItemRuns && s != ItemRerun }

// ItemProgress says how far one item has come with a trigger.
type ItemProgress struct {
	Item     int           `json:"item"`
	State    TriggerState  `json:"state"`
	Instance string        `json:"instance,omitempty"` // that ran it, or is to
	Began    time.Time     `json:"began,omitzero"`
	Took     time.Duration `json:"took,omitempty"`  // in nanoseconds
	Token    int64         `json:"token,omitempty"` // fencing token
	Error    string        `json:"error,omitempty"`
}

// Trigger runs items of a job once, now, whatever its cron says. An item that runs already runs once more right
// after. It is one write, however many instances there are; its revision, which the result has, is the number of the
// trigger. It is done when each item has run for it, or will not; [Progress].Items says so of each.
//
// Where Java instances take part, they are asked each by its own node, beyond a hundred of them in further requests.
// If the operator dies between two of those, ask again with the same id: it asks those who are left. They know
// neither items nor parameters, so a trigger that names any is refused.
//
// It is refused if the job is disabled or its configuration cannot be used, if no instance lives that is enabled, if
// an item is unknown or disabled, if the id is that of a trigger for another fire or with another parameter, and while an
// earlier trigger goes on, which Replace ends. Instances of ElasticJob 3.x that
// have not taken the earlier one then run once, for the new one.
func (o *Operator) Trigger(ctx context.Context, job string, t Trigger, opts Options) (Result, error) {
	return o.carry(ctx, triggerDeed(VerbTrigger, job, t), opts)
}

func triggerDeed(verb Verb, job string, t Trigger) deed {
	t.Items = slices.Clone(t.Items)
	slices.Sort(t.Items)
	d := deed{
		verb: verb, job: job,
		decide:   func(w *world) (decision, error) { return trigger(w, t) },
		rest:     byhand.AskRest,
		followed: func(w *world, r Result) Progress { return triggerFollowed(w, t, r) },
	}
	if len(t.Items) > 0 {
		d.target = "items " + itemList(t.Items)
	}
	if verb == VerbTrigger { // whose items are its target
		d.content = digestOf(fireTarget(t.Fire) + "\n" + t.Parameter)
	}
	if verb == VerbBackfill {
		d.target = fireTarget(t.Fire)
		d.was = func(op jobtree.Operation) bool { return !t.Fire.After(fireOf(op.Target)) }
	}
	return d
}

// fireTarget is what is written down of a backfill: how far it has come.
func fireTarget(fire time.Time) string { return "fire " + fire.UTC().Format(time.RFC3339Nano) }

func fireOf(target string) time.Time {
	fire, _ := time.Parse("fire "+time.RFC3339Nano, target)
	return fire
}

func trigger(w *world, t Trigger) (decision, error) {
	if err := w.mayRun(); err != nil {
		return decision{}, err
	}
	ask := byhand.Ask{
		Parameter: t.Parameter, Fire: t.Fire, Within: t.Within, Operation: w.id, Replace: t.Replace, AfterRuns: true, Java: w.java,
	}
	if len(t.Items) > 0 {
		ask.Items = t.Items
	}
	if ask.Within == 0 {
		ask.Within = DefaultTriggerWithin
	}
	request, err := byhand.Decide(w.state, ask, w.now)
	if err != nil {
		return decision{}, w.refusedTrigger(t, err)
	}
	was := "nothing"
	if len(request.Pending) > 0 {
		was = fmt.Sprintf("trigger %d, for which %s %s not run yet", w.state.Triggered().Revision,
			items(len(request.Pending), itemList(request.Pending)), one(len(request.Pending), "has", "have"))
	}
	d := decision{
		compare: request.Compare, write: request.Writes, more: request.More,
		plan: Plan{Changes: []Change{{What: "trigger", Before: was, After: t.describe()}}},
	}
	if len(t.Items) == 0 {
		if disabled := byhand.Disabled(w.state); len(disabled) > 0 {
			d.warn(fmt.Sprintf("%s %s not run", items(len(disabled), itemList(disabled)), one(len(disabled), "is disabled, and does", "are disabled, and do")))
		}
	}
	if !w.state.Config.Value.Monitored() {
		d.warn("executions are not recorded: whether the items ran cannot be seen")
	}
	return d, nil
}

// refusedTrigger says in the words of this package why a request is not made.
func (w *world) refusedTrigger(t Trigger, err error) error {
	var fault *byhand.Fault
	if !errors.As(err, &fault) {
		return err
	}
	switch fault.Why {
	case byhand.Unusable:
		r := refuse(CauseUnusable, "correct its settings first", "the job pauses, as its configuration cannot be used")
		r.Err = fault.Err
		return r
	case byhand.Unwritable:
		return invalid(fault.Err)
	case byhand.JobDisabled:
		return w.refusedDisabled()
	case byhand.NobodyLives:
		return refuse(CauseNoInstance, "start a process that runs the job", "no instance of the job lives")
	case byhand.NobodyEnabled:
		return refuse(CauseNoInstance, "enable a server first", "the servers of all instances are disabled")
	case byhand.NoTime:
		return refuse(CauseInvalid, "", "the time %s within which items may begin must not be negative", t.Within)
	case byhand.BeyondJava:
		return refuse(CauseInvalid, "trigger the whole job, or run it without Java",
			"Java instances take part in the job, and know neither items, parameters nor fires of a trigger")
	case byhand.UnknownItems:
		return refuse(CauseUnknownTarget, "", "the job has no %s, but %s", items(len(fault.Items), listed(fault.Items)), itemRange(w.state.Config.Value.ShardingTotalCount))
	case byhand.TwiceNamed:
		return refuse(CauseInvalid, "name it once", "item %d is named twice", fault.Items[0])
	case byhand.ItemsDisabled:
		return refuse(CauseUnknownTarget, one(len(fault.Items), "enable it first, or leave it out", "enable them first, or leave them out"), "%s %s disabled", items(len(fault.Items), listed(fault.Items)), one(len(fault.Items), "is", "are"))
	case byhand.AllDisabled:
		return refuse(CauseUnknownTarget, "enable some first", "all items are disabled")
	case byhand.Pending:
		if !w.state.Triggered().Exists() {
			return refuse(CausePending, "wait for it, or replace it", "the console of Java has triggered %s, which %s not begun yet",
				items(len(fault.Items), itemList(fault.Items)), one(len(fault.Items), "has", "have"))
		}
		return refuse(CausePending, "wait for it, or replace it", "trigger %d goes on%s: %s %s not run for it yet", w.state.Triggered().Revision,
			w.madeBy(w.state.Triggered().Value.Operation), items(len(fault.Items), itemList(fault.Items)), one(len(fault.Items), "has", "have"))
	}
	return fault
}

func (t Trigger) describe() string {
	text := "all items"
	if len(t.Items) > 0 {
		text = items(len(t.Items), itemList(t.Items))
	}
	if !t.Fire.IsZero() {
		text += ", fire " + t.Fire.UTC().Format(time.RFC3339Nano)
	}
	if t.Parameter != "" {
		text += ", with a parameter" // it may be secret
	}
	return text
}

// mayRun refuses what nobody would run, by what operators did.
func (w *world) mayRun() error {
	if r := w.known(); r != nil {
		return r
	}
	switch {
	case w.operated.Value.Removing != "":
		return refuse(CausePending, "enable the job to call that off", "the job is being removed")
	case w.operated.Value.DisabledServers != nil:
		return w.refusedDisabled()
	}
	return nil
}

// refusedDisabled refuses what a disabled job would not run. One that is stopped to be moved needs no enabling: that would
// call the move off, or be refused.
func (w *world) refusedDisabled() *Refusal {
	if m := w.operated.Value.Moving; m != nil && !w.staysDisabled() {
		return refuse(CausePending, "complete the move with elasticron move, and ask again; or enable the job, which calls the move off",
			"it was stopped at %s to be moved to registry %q", m.Since.UTC().Format(time.RFC3339), m.To)
	}
	if _, r := w.move(new(decision)); r != nil {
		return r
	}
	return refuse(CauseNoInstance, "enable it first", "the job is disabled%s", w.since(VerbDisableJob, ""))
}

// triggeredBy returns the number of the trigger that an operation made, if no other took its place; else 0. Others are also
// those that no operator made: a process asks for runs of its own job by a handle, or somebody puts the node by hand.
func (w *world) triggeredBy(id, target string) registry.Revision {
	trigger := w.state.Triggered()
	if op, _ := w.operated.Value.Find(id); op.Target == target && trigger.Value.Operation == id {
		return trigger.Revision
	}
	return 0
}

// clockTolerance is how far the clocks of instances may differ from the operator's: so long after its end a trigger
// may still be answered.
const clockTolerance = 30 * time.Second

// becameOf tells how far an item has come with a trigger.
func (w *world) becameOf(item int, trigger registry.Revision) ItemProgress {
	it := w.state.Item(item)
	p := ItemProgress{Item: item, Instance: w.state.Owner(item)}
	answer, e := it.Record.Value.AnswerTo(trigger)
	if e != nil {
		p.Instance, p.Began, p.Took, p.Token, p.Error = e.Instance, e.Begin, e.Duration(), e.Token, e.Error
	}
	asked := w.state.Triggered()
	switch {
	case answer == jobtree.Answering && it.Record.Value.State == jobtree.ItemWaiting:
		p.State = ItemRerun
	case answer == jobtree.Answering:
		p.State, p.Token = ItemRuns, e.Base+int64(it.Record.Value.Token(it.Record.Revision))
	case answer == jobtree.Answered && e != nil:
		p.State = map[jobtree.Outcome]TriggerState{
			jobtree.Success: ItemSucceeded, jobtree.Failure: ItemFailed, jobtree.Interrupted: ItemInterrupted, jobtree.Lost: ItemLost,
		}[e.Outcome]
	case answer == jobtree.Answered:
		p.State = ItemRan
	case answer == jobtree.Passed, asked.Revision != trigger:
		p.State = ItemReplaced
	case item >= w.total(), !w.java && !w.state.Reachable(item, trigger):
		p.State = ItemSurplus
	case it.Disabled:
		p.State = ItemDisabled
	case asked.Err == nil && !asked.Value.Asks(item): // it had begun before the job moved, which left the others to be asked
		p.State = ItemRan
	case w.java && jobtree.JavaInstance(p.Instance):
		p.State = w.byJava(it, p.Instance)
	case asked.Value.Over(w.now.Add(-clockTolerance)):
		p.State = ItemLate
	default:
		p.State = ItemAsked
	}
	return p
}

// byJava tells by its marks how far an item has come that a Java instance owns.
func (w *world) byJava(it jobtree.Item, owner string) TriggerState {
	switch {
	case w.state.Instance(owner).Triggered:
		return ItemAsked
	case it.Running.Exists():
		return ItemRuns
	default:
		return ItemTaken
	}
}

// triggerFollowed tells how far each item has come with a trigger.
func triggerFollowed(w *world, t Trigger, r Result) Progress {
	cfg := w.state.Config
	switch {
	case !cfg.Exists():
		return Progress{Overtaken: true, Text: "the job was removed"}
	case r.Revision == 0:
		return Progress{Overtaken: true, Text: "it was triggered before this call, under a number that is not known here"}
	case cfg.Err == nil && !cfg.Value.Monitored(), !w.java && w.state.Triggered().Revision == r.Revision && w.state.Triggered().Value.Each:
		return done("executions are not recorded")
	}
	items := t.Items
	if len(items) == 0 {
		for item := range w.total() {
			items = append(items, item)
		}
	}
	p := Progress{Of: len(items), Text: "items have run, or will not"}
	for _, item := range items {
		became := w.becameOf(item, r.Revision)
		if became.State.final() {
			p.Ready++
		}
		p.Items = append(p.Items, became)
	}
	if p.Done = p.Ready == p.Of; !p.Done && w.state.Triggered().Revision == r.Revision {
		if end := w.state.Triggered().Value.Until.Add(clockTolerance); !end.Before(w.now) {
			p.again = end
		}
	}
	return p
}

// Failed returns the items of a trigger that have not run to a good end, and never will for it. Items that are
// disabled, or are none any more, have not failed.
func (p Progress) Failed() (items []ItemProgress) {
	for _, it := range p.Items {
		switch it.State {
		case ItemFailed, ItemInterrupted, ItemLost, ItemReplaced, ItemLate:
			items = append(items, it)
		}
	}
	return items
}

// one chooses the words for one thing, or for several.
func one(n int, single, several string) string {
	if n == 1 {
		return single
	}
	return several
}

// items puts the word before a list of n items.
func items(n int, list string) string { return one(n, "item ", "items ") + list }

func itemCount(n int) string { return fmt.Sprintf("%d %s", n, one(n, "item", "items")) }

// itemRange names all items of a job.
func itemRange(total int) string {
	if total <= 0 { // what cannot be read has none
		return "no items"
	}
	return one(total, "item 0", fmt.Sprintf("items 0 to %d", total-1))
}

// maxItemList bounds a list of items, in bytes: a job may have thousands, and lists are written down.
const maxItemList = 200

// itemList writes items, runs of them by their ends: "0-9,12". What is too long ends with how many there are more.
func itemList(items []int) string {
	var text string
	for i := 0; i < len(items); {
		if len(text) > maxItemList {
			return fmt.Sprintf("%s and %d more", text, len(items)-i)
		}
		end := i
		for end+1 < len(items) && items[end+1] == items[end]+1 {
			end++
		}
		if text != "" {
			text += ","
		}
		text += fmt.Sprint(items[i])
		if end > i {
			text += fmt.Sprintf("-%d", items[end])
		}
		i = end + 1
	}
	return text
}

// ErrReplaced is what a backfill tells that went on after another trigger had taken the place of one of its fires. If it
// ends for nothing else, all other fires were carried out.
var ErrReplaced = errors.New("another trigger has taken its place, and whether all items had run for it is not known")

// MaxBackfill is how many fires one backfill has at most.
const MaxBackfill = 1_000

// Backfill runs a job for fires that were not run, one after the other, in ascending order: each fire is a trigger,
// and the next follows when every item of the one before has run. The caller drives it: if the context ends, or an
// item fails, what is left is in the result, to be asked for again. A backfill is one operation of the job, which
// says how far it has come: called again with its id, it leaves out the fires up to there. With other items or an earlier
// fire it is another backfill, and refused. An item of theirs that
// failed does not stop it once more, nor does [ErrReplaced]; the error with which the call ends tells of it, too.
//
// It is refused as [Operator.Trigger] is, and if one of the fires is not of the job's schedule, lies in the future
// or is named twice, or if there are more than [MaxBackfill]. Only Items, Parameter and Within of the trigger are
// heeded. Progress hears of the fire under way.
func (o *Operator) Backfill(ctx context.Context, job string, fires []time.Time, t Trigger, opts Options) (BackfillResult, error) {
	r := BackfillResult{ID: opts.id(), Left: slices.Clone(fires)}
	slices.SortFunc(r.Left, time.Time.Compare)
	opts.ID, opts.Wait, opts.Shown = r.ID, true, nil
	checked, err := o.checkBackfill(ctx, job, r.Left, opts)
	if err != nil {
		return r, err
	}
	r.Since = cmp.Or(opts.Since, checked.State)
	var before error   // of a fire of an earlier call
	var came time.Time // how far earlier calls had come, as far as is known
	asked := span{first: r.Left[0]}
	if len(t.Items) > 0 {
		asked.items = itemList(slices.Sorted(slices.Values(t.Items)))
	}
	for len(r.Left) > 0 {
		t.Fire, t.Replace = r.Left[0], false
		d := triggerDeed(VerbBackfill, job, t)
		d.asked = asked
		if !t.Fire.After(came) { // it was asked for before, so it is not decided anew
			d.decide = func(*world) (decision, error) {
				return decision{}, refuse(CauseOvertaken, "look at what ran since, and ask for the other fires with another id", "the %s was asked for before, and the job does not know the id %q any more", d.target, r.ID)
			}
		}
		result, err := o.carry(ctx, d, opts)
		if result.Repeated {
			came = result.Came
		}
		if result.Repeated && result.Revision == 0 && result.Progress.Overtaken { // it is long since
			result.Progress, err = done("triggered before"), nil
			if result.replaced {
				before = fmt.Errorf("fire %s: %w", fireTarget(t.Fire)[len("fire "):], ErrReplaced)
			}
		}
		if err != nil {
			return r, also(before, err)
		}
		if opts.DryRun {
			return r, nil
		}
		r.Done = append(r.Done, result)
		r.Left = r.Left[1:]
		opts.Again, opts.Since = false, 0 // the fires behind it may not have run
		if failed := result.Progress.Failed(); len(failed) > 0 {
			err := fmt.Errorf("fire %s: %w", t.Fire.UTC().Format(time.RFC3339), &ItemsFailedError{Items: failed})
			if !result.Repeated {
				return r, also(before, err)
			}
			before = err // whoever goes on knows of it, or learns it when all else is done
		}
	}
	return r, before
}

// also returns an error that tells of one before it, if there is one.
func also(before, err error) error {
	if before == nil {
		return err
	}
	return errors.Join(before, err)
}

// BackfillResult says how far a backfill came.
type BackfillResult struct {
	ID   string      `json:"id"`
	Done []Result    `json:"done,omitempty"` // of each fire that has run
	Left []time.Time `json:"left,omitempty"` // the fires that have not, ascending
	// Since is a state before the first of the fires was asked for, for [Options.Since] of who asks again for all of them.
	Since registry.Revision `json:"since,omitempty"`
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

func (o *Operator) checkBackfill(ctx context.Context, job string, fires []time.Time, opts Options) (Result, error) {
	d := deed{verb: VerbBackfill, job: job, decide: func(w *world) (decision, error) { return decision{}, w.checkFires(fires) }}
	opts.DryRun, opts.Again, opts.ID, opts.Since = true, false, "", 0
	return o.carry(ctx, d, opts)
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
		for at := schedule.Next(from.Add(-time.Nanosecond)); !at.IsZero() && !at.After(to); at = schedule.Next(at) {
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

// IsRefused tells whether an operation was refused, and why.
func IsRefused(err error) (Cause, bool) {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Cause, true
	}
	return "", false
}
