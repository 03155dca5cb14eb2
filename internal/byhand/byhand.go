// Package byhand decides what is committed when somebody asks for items to run by hand: T9 of docs/protocol.md. The
// handle of a scheduler and package operate ask alike, each in its own words.
//
// A request is one node, however many instances there are. Java instances do not read that node: each is asked by
// its own, and those for which the request's transaction has no room, by one transaction each, see [AskRest].
package byhand

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// DefaultWithin is in what time an item may begin, if nobody says so.
const DefaultWithin = time.Hour

// Ask is what somebody asks for.
type Ask struct {
	Items     []int // that are to run, in any order; nil is all
	Parameter string
	Fire      time.Time     // that the runs stand for; zero is none
	Within    time.Duration // in which an item may begin
	Operation string        // id of the operation by which it is asked for; empty if it is none
	Replace   bool          // takes the place of a request that is pending
	// AfterRuns has the request before be pending until what runs for it is over, also if that is to run again.
	// Without it, it is pending until the items have begun.
	AfterRuns bool
	// Java tells that Java instances take part in the job.
	Java bool
}

// Request is what is to be committed for an [Ask].
type Request struct {
	jobtree.Triggered
	Compare []registry.Condition
	Writes  []registry.Write
	// Pending are the items that have not run for the request whose place this one takes.
	Pending []int
	// More tells that Java instances are left which [AskRest] is to ask.
	More bool
}

// together is how many Java instances are asked in the transaction of the request itself.
const together = 100

// Decide returns the request, or the [*Fault] for which there is none. It compares configuration and the request
// before, so nothing else changes them meanwhile.
func Decide(s *jobtree.State, a Ask, now time.Time) (Request, error) {
	a.Items = slices.Clone(a.Items)
	slices.Sort(a.Items)
	if fault := a.refused(s); fault != nil {
		return Request{}, fault
	}
	pending := a.pending(s, now)
	if len(pending) > 0 && !a.Replace {
		return Request{}, &Fault{Why: Pending, Items: pending}
	}
	r := Request{
		Triggered: jobtree.Triggered{
			Items: a.Items, Total: s.Config.Value.ShardingTotalCount, Parameter: a.Parameter, Fire: a.Fire.UTC(), Until: now.Add(a.Within).UTC(),
			Operation: a.Operation,
			Each:      a.Java || !s.Config.Value.Monitored(),
		},
		Pending: pending,
	}
	text, err := jobtree.EncodeTriggered(r.Triggered)
	if err != nil {
		return Request{}, &Fault{Why: Unwritable, Err: err}
	}
	tree := s.Tree()
	r.Compare = []registry.Condition{
		registry.Unchanged(tree.Config(), s.Config.Revision),
		registry.Unchanged(tree.Triggered(), s.Triggered().Revision),
	}
	r.Writes = []registry.Write{registry.Put(tree.Triggered(), text)}
	asked := 0
	for _, i := range s.Instances {
		switch {
		case !a.Java || !jobtree.JavaInstance(i.ID):
		case asked == together && s.Layout() == jobtree.Lite: // elsewhere nothing tells afterwards who was asked
			r.More = true
		default:
			asked++
			compare, writes := s.Ask(i)
			r.Compare, r.Writes = append(r.Compare, compare...), append(r.Writes, writes...)
		}
	}
	if a.Java {
		compare, writes := s.Abandoned(together)
		r.Compare, r.Writes = append(r.Compare, compare...), append(r.Writes, writes...)
	}
	return r, nil
}

// refused tells why nobody would run what is asked for.
func (a Ask) refused(s *jobtree.State) *Fault {
	switch {
	case !s.Config.Exists():
		return &Fault{Why: NotStored}
	case s.Config.Err != nil:
		return &Fault{Why: Unusable, Err: s.Config.Err}
	case s.JobDisabled():
		return &Fault{Why: JobDisabled}
	case len(s.Instances) == 0:
		return &Fault{Why: NobodyLives}
	case !s.AnybodyEnabled():
		return &Fault{Why: NobodyEnabled}
	case a.Within <= 0:
		return &Fault{Why: NoTime}
	case a.Java && (a.Items != nil || a.Parameter != "" || !a.Fire.IsZero()):
		return &Fault{Why: BeyondJava}
	}
	if _, err := jobtree.CheckConfig(s.Tree().Job(), s.Config.Value); err != nil {
		return &Fault{Why: Unusable, Err: err}
	}
	return a.itemsRefused(s)
}

// itemsRefused tells which items would not run.
func (a Ask) itemsRefused(s *jobtree.State) *Fault {
	total := s.Config.Value.ShardingTotalCount
	var unknown, disabled, twice []int
	for i, n := range a.Items {
		switch {
		case n < 0 || n >= total:
			unknown = append(unknown, n)
		case i > 0 && n == a.Items[i-1]:
			twice = append(twice, n)
		case s.Disabled(n):
			disabled = append(disabled, n)
		}
	}
	switch {
	case unknown != nil:
		return &Fault{Why: UnknownItems, Items: unknown}
	case twice != nil:
		return &Fault{Why: TwiceNamed, Items: twice}
	case disabled != nil:
		return &Fault{Why: ItemsDisabled, Items: disabled}
	case a.Items == nil && len(Disabled(s)) == total:
		return &Fault{Why: AllDisabled}
	}
	return nil
}

// Disabled lists the items of a job that are disabled.
func Disabled(s *jobtree.State) (items []int) {
	for n := range s.Config.Value.ShardingTotalCount {
		if s.Disabled(n) {
			items = append(items, n)
		}
	}
	return items
}

// pending are the items for which the request before is pending. Beside Java, and where executions are not recorded,
// nobody knows, but for instances of ElasticJob 3.x that have not taken it yet: those run once for both.
func (a Ask) pending(s *jobtree.State, now time.Time) []int {
	if a.Java && s.Layout() == jobtree.ElasticJob3 {
		return notTaken(s)
	}
	if a.Java || !s.Config.Value.Monitored() {
		return nil
	}
	items, before := s.Pending(now), s.Triggered()
	for n := 0; a.AfterRuns && before.Exists() && n < s.Items(); n++ {
		if answer, _ := s.Record(n).Value.AnswerTo(before.Revision); answer == jobtree.Answering {
			items = append(items, n)
		}
	}
	slices.Sort(items)
	return items
}

// notTaken are the items of Java instances that are asked and have not taken that yet.
func notTaken(s *jobtree.State) (items []int) {
	for n := range s.Total() {
		if owner := s.Owner(n); jobtree.JavaInstance(owner) && s.Instance(owner).Triggered {
			items = append(items, n)
		}
	}
	return items
}
