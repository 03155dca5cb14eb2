package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/byhand"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// DefaultTriggerWithin is how long after a trigger its items may begin, if nothing else is said: an hour.
const DefaultTriggerWithin = byhand.DefaultWithin

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

// Trigger runs items of a job once, now, whatever its cron says. An item that runs already runs once more right
// after. It is one write, however many instances there are; its revision, which the result has, is the number of the
// trigger. It is done when each item has run for it, or will not; [Progress].Items says so of each. Who waits does not wait on
// when somebody has disabled the job or all servers, or nobody has lived for a minute: the request stands, and what is
// asked for begins if that is over in time.
//
// Where Java instances take part, they are asked each by its own node, beyond a hundred of them in further requests.
// If the operator dies between two of those, ask again with the same id: it asks those who are left. They know
// neither items nor parameters, so a trigger that names any is refused.
//
// It is refused if the job is disabled or its configuration cannot be used, if no instance lives that is enabled, if an item is
// unknown or disabled, if the id is that of a trigger for another fire or with another parameter, and while an earlier trigger
// goes on, which Replace ends. Instances of ElasticJob 3.x that have not taken the earlier one then run once, for the new one.
// Where executions are not recorded nobody sees whether one goes on: each takes the place of the one before, and the notes of
// the plan tell of one whose time is not over.
func (o *Operator) Trigger(ctx context.Context, job string, t Trigger, opts Options) (Result, error) {
	return o.carry(ctx, triggerDeed(VerbTrigger, job, t), opts)
}

func triggerDeed(verb Verb, job string, t Trigger) deed {
	t.Items = slices.Clone(t.Items)
	slices.Sort(t.Items)
	d := deed{
		verb: verb, job: job,
		decide:   func(w *world) (decision, error) { return trigger(w, verb, t) },
		rest:     byhand.AskRest,
		followed: followsTrigger(t),
	}
	if len(t.Items) > 0 {
		d.target = "items " + itemList(t.Items)
	}
	if verb == VerbTrigger { // whose items are its target
		d.content = digestOf(fireTarget(t.Fire) + "\n" + t.Parameter)
	}
	if verb == VerbBackfill {
		d.target = fireTarget(t.Fire)
		d.content = digestOf("parameter\n" + t.Parameter)
		d.was = func(op jobtree.Operation) bool { return !t.Fire.After(fireOf(op.Target)) }
	}
	return d
}

func trigger(w *world, verb Verb, t Trigger) (decision, error) {
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
		return decision{}, w.refusedTrigger(verb, t, err)
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
	if unseen := w.unseenTrigger(); unseen != "" { // as a note: there is another each second perhaps, and what was shown is compared
		d.plan.Notes = append(d.plan.Notes, unseen)
	}
	if why := pausedFor(w.state); why != "" { // by their code alone: settings that nobody can use are refused
		d.warn("the job pauses, and nothing runs until its settings are corrected: " + why)
	} else if leaderless(w.state) {
		d.plan.Notes = append(d.plan.Notes, nobodyLeads)
	}
	if len(t.Items) == 0 {
		if disabled := byhand.Disabled(w.state); len(disabled) > 0 {
			which := items(len(disabled), itemList(disabled))
			text := fmt.Sprintf("%s %s not run", which, one(len(disabled), "is disabled, and does", "are disabled, and do"))
			switch recorded := !w.java && w.state.Config.Value.Monitored(); { // else nobody knows later who has run
			case verb == VerbBackfill: // whose next fire takes the place of this one for them
				text = fmt.Sprintf("%s %s for none of the fires until %s enabled", which,
					one(len(disabled), "is disabled, and runs", "are disabled, and run"), one(len(disabled), "it is", "they are"))
			case recorded:
				text += fmt.Sprintf(" unless %s enabled within %s", one(len(disabled), "it is", "they are"), ask.Within)
			}
			d.warn(text)
		}
	}
	if !w.state.Config.Value.Monitored() {
		d.warn("executions are not recorded: whether the items ran cannot be seen")
	}
	if began := lastRunsOf(w.state).latest; began.After(w.now.Add(inforce.ClockTolerance)) {
		// Without times: a warning is compared when what was shown is done, and they go on.
		d.warn(fmt.Sprintf("this machine's clock is behind that of an instance by more than %s: items begin only until that one shows "+
			"%s more than this one does now", inforce.ClockTolerance, ask.Within))
		d.plan.Notes = append(d.plan.Notes, fmt.Sprintf("this machine's clock says %s, and an item has begun at %s by that of its instance: "+
			"items begin until %s, by theirs",
			w.now.UTC().Format(time.RFC3339), began.UTC().Format(time.RFC3339), request.Until.UTC().Format(time.RFC3339)))
	}
	return d, nil
}

// unseenTrigger tells what a trigger may take away that stands: where executions are not recorded nobody sees which items
// have begun for it. To refuse it would be to refuse each for an hour after the one before, whose items mostly have.
func (w *world) unseenTrigger() string {
	before := w.state.Triggered()
	recorded := w.state.Config.Value.Monitored() && !before.Value.Each
	if w.java || !before.Exists() || before.Err != nil || before.Value.Over(w.now) || recorded {
		return ""
	}
	return fmt.Sprintf("trigger %d%s stands until %s, and nobody sees whether its items have begun: those that have not do not begin for it any more",
		before.Revision, w.madeBy(before.Value.Operation), before.Value.Until.UTC().Format(time.RFC3339))
}

// refusedTrigger says in the words of this package why a request is not made.
func (w *world) refusedTrigger(verb Verb, t Trigger, err error) error {
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
		why := fmt.Sprintf("the console of Java has triggered %s, which %s not begun yet",
			items(len(fault.Items), itemList(fault.Items)), one(len(fault.Items), "has", "have"))
		if w.state.Triggered().Exists() {
			why = fmt.Sprintf("trigger %d goes on%s: %s %s not run for it yet", w.state.Triggered().Revision,
				w.madeBy(w.state.Triggered().Value.Operation), items(len(fault.Items), itemList(fault.Items)), one(len(fault.Items), "has", "have"))
		}
		r := refuse(CausePending, "wait for it, or replace it", "%s", why)
		if r.Replaceable = verb == VerbTrigger; !r.Replaceable { // a backfill takes nobody's place
			r.Do = "wait for it"
		}
		return r
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

// warnOfTrigger says which items begin for the last trigger as soon as the decision lets them: whoever asked for them may not
// wait any more.
func (w *world) warnOfTrigger(d *decision, begin []int) {
	if len(begin) == 0 {
		return
	}
	asked := w.state.Triggered()
	d.warn(fmt.Sprintf("trigger %d stands until %s%s: %s for it at once", asked.Revision, asked.Value.Until.UTC().Format(time.RFC3339),
		w.madeBy(asked.Value.Operation), items(len(begin), itemList(begin))+one(len(begin), " begins", " begin")))
}

// mayBeginFor tells whether an item that is disabled begins for the last trigger when it is enabled.
func (w *world) mayBeginFor(item int) bool {
	asked, record := w.state.Triggered(), w.state.Item(item).Record
	if !asked.Exists() || asked.Err != nil || asked.Value.Each || asked.Value.Over(w.now) || record.Err != nil {
		return false
	}
	answer, _ := record.Value.AnswerTo(asked.Revision)
	return asked.Value.Asks(item) && answer == jobtree.Unanswered && w.state.Reachable(item, asked.Revision)
}

// asked are the items that a trigger is for.
func (w *world) asked(t Trigger) []int {
	if len(t.Items) > 0 {
		return t.Items
	}
	items := make([]int, w.total())
	for item := range items {
		items[item] = item
	}
	return items
}
