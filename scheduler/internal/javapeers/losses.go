package javapeers

import (
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// confirmLoss is how long a Java instance must stay away to have crashed. It deletes its own node and
// makes it anew when it reconnects, and other Java instances may take over what it ran.
const confirmLoss = time.Second

// confirmOther is how long, in ElasticJob 3.x, a mark must stand that is older than the instance that it names. A process
// that connects again takes its marks away as soon as it has made its node anew: one after the other, with two requests for
// each of its items.
const confirmOther = 10 * time.Second

// confirmReplaced is, in 2.1.5, for how long another session must have had the instance when the marks of the former session
// go.
const confirmReplaced = 3 * time.Second

// losses are executions of Java instances whose mark vanished together with their instance, or after another process had taken
// its place: the session of both is over. It is the only sign of a crash that Java leaves, and only those who
// saw it know.
type losses struct {
	lost     map[int]loss // by item
	vanished vanished
	replaced replaced
	ranBy    begun
	// died are marks whose instances went before the eyes of this process, by item, in ElasticJob 3.x.
	died map[int]death
}

type loss struct {
	failover.Foreign
	seen   time.Time
	record registry.Revision // of the item then
	claim  registry.Revision // by which it ran, if it did: it goes with its session, and perhaps is seen to do so last
	open   bool              // what the item's record says of it comes first, see unsettled
	other  registry.Revision // that created the instance which has the id of the one that ran it; 0 if there is none
}

// had tells whether a claim, by its creation, was that of the execution itself.
func (l loss) had(claim registry.Revision) bool { return claim != 0 && l.claim == claim }

// byMark tells whether a mark alone tells of the execution or the claim, which its instance left in ElasticJob 3.x.
func (l loss) byMark() bool { return l.Session == 0 && l.Wish == 0 }

// lookForCrashes notes what a step takes away of executions that nobody recorded.
func (s *java) lookForCrashes(v room.View, step registry.Step) {
	s.noteClaims(step)
	s.noteDeaths(v, step)
	if !v.Usable || !v.Config.Failover || s.of == jobtree.ElasticJob3 { // whose marks tell when their instances are gone
		s.vanished, s.replaced = vanished{}, replaced{}
		return
	}
	s.ranBy.note(v.State, step)
	for _, run := range append(s.vanished.take(step), s.replaced.take(v.State, step, time.Now())...) {
		it := v.State.Item(run.item)
		if run.claim {
			s.noteLostClaim(v, it, run)
			continue
		}
		record, claim := it.Record, registry.Revision(0)
		if it.Failover.Session == run.mark.Session {
			claim = it.Failover.Created
		}
		if record.Value.State == jobtree.ItemRunning && record.Value.Current.Session == run.mark.Session {
			continue // one of ours: the record tells
		}
		s.noteLoss(run.item, loss{record: record.Revision, claim: claim, seen: time.Now(), Foreign: failover.Foreign{
			Instance: run.instance, Session: run.mark.Session, Token: run.mark.Created, Fire: s.lastFire(v, run.item),
		}})
	}
}

// noteLostClaim notes that an instance is gone that had claimed an item and had not begun. What it claimed was perhaps lost
// by one of ours, and is left to Java by its record.
func (s *java) noteLostClaim(v room.View, it jobtree.Item, run execution) {
	if s.ranBy.claims[run.item] == run.mark.Created || !jobtree.JavaInstance(run.mark.Value) {
		return
	}
	lost := failover.Foreign{Instance: run.instance, Session: run.mark.Session, Token: run.mark.Created, Claim: run.mark.Revision}
	if s.lastRun(run.item) != "" {
		lost.Fire = s.lastFire(v, run.item)
	}
	s.noteLoss(run.item, loss{record: it.Record.Revision, claim: run.mark.Created, seen: time.Now(), Foreign: lost})
}

// unsettled tells whether a claim was lost whose item's record says yet that an execution of ours is lost, or waits. It is
// declared lost, or left to Java, before the claim tells anything.
func (l loss) unsettled(r jobtree.Record) bool {
	return l.Session != 0 && l.Claim != 0 && (r.State == jobtree.ItemWaiting || r.State == jobtree.ItemRunning)
}

// leftToJava tells whether a record says that an execution was left to Java of which the claim was lost.
func (l loss) leftToJava(r jobtree.Record) bool {
	return l.Session != 0 && l.Claim != 0 && r.State == jobtree.ItemInterrupted && r.Current != nil && r.Current.Outcome == jobtree.Lost
}

// noteClaims leaves to Java what Java claims, however short that takes.
func (s *java) noteClaims(step registry.Step) {
	if len(s.lost) == 0 {
		return
	}
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if ok && name.Kind == jobtree.KindItemFailover && !s.lost[name.Item].had(change.Old.Created) {
			s.forgetLoss(name.Item)
		}
	}
}

// lastFire returns the fire for which an execution of a Java instance may stand that was lost: the last one before it was seen
// to begin, whose clock may be ahead, or before now if that was not seen.
func (s *java) lastFire(v room.View, item int) time.Time {
	began := s.lastBegin(item)
	if began.IsZero() {
		began = v.Clock.Now()
	}
	return cronexpr.Last(v.Rules.Schedule, began.Add(-366*24*time.Hour), began.Add(beforeFire))
}

func (s *java) noteLoss(item int, l loss) {
	if s.lost == nil {
		s.lost = make(map[int]loss)
	}
	s.lost[item] = l
}

// MaybeLost implements [peers.Executors].
func (s *java) MaybeLost(item int) bool {
	l, pending := s.lost[item]
	return pending && !l.open
}

// TakenOff implements [peers.Executors], as Java owners do. A Java instance that claims an item runs nothing else before
// that, and passes over each of its fires at which the item runs: an owner of ours that fires a moment earlier each time
// would keep it from all its items.
//
// What perhaps runs on, though its mark is older than its instance, is not begun beside it either. Nor is what rests.
func (s *java) TakenOff(v room.View, node jobtree.Item) bool {
	if s.resting(node.Number) {
		return true
	}
	if node.Remains.Exists() && jobtree.JavaInstance(node.Remains.Value) && s.lives(v, node.Number, node.Remains) {
		return true
	}
	claim := node.Failover
	return claim.Session != 0 && jobtree.JavaInstance(claim.Value) && v.State.Instance(claim.Value).Created != 0
}

// settleLosses proposes to run again what Java instances lost, once that is certain and no Java instance does so.
// If several processes saw a loss, the leader declares it, the owner, or, if Java leads, whoever is first;
// the others, a moment later, what those did not see. If another Java instance runs the item meanwhile,
// that is no rerun: it got the item, and its next fire came.
func (s *java) settleLosses(v room.View) room.Batch {
	var batch room.Batch
	for item, l := range s.lost {
		it := v.State.Item(item)
		if record := it.Record.Value; l.unsettled(record) || l.record != it.Record.Revision && l.leftToJava(record) {
			l.record, l.open = it.Record.Revision, l.unsettled(record)
			s.lost[item] = l
			s.ports.LookAgain(item)
		}
		if changed := it.Record.Revision != l.record; changed || s.wasNone(v, it, l) || it.Failover.Exists() && !l.had(it.Failover.Created) {
			s.forgetLoss(item)
			if changed && it.Remains.Exists() || it.FailoverItem != 0 && s.of == jobtree.ElasticJob3 {
				s.left.Add(item)
			}
			continue
		}
		if other := v.State.Instance(l.Instance).Created; l.byMark() && other != l.other && other != 0 { // which may take it away
			l.other, l.seen = other, time.Now()
			s.lost[item] = l
		}
		confirm := confirmLoss
		if l.other != 0 {
			confirm = confirmOther
		}
		if !v.Leads() && !v.Owns(item) && !v.State.LedByJava() {
			confirm *= 3
		}
		if wait := confirm - time.Since(l.seen); wait > 0 {
			s.ports.Wake(wait)
			continue
		}
		if l.open {
			continue
		}
		s.proposeLoss(v, &batch, item, l) // forgotten when it is recorded, by whomever
	}
	return batch
}

// wasNone tells that an execution was not lost after all: its process is back, or it has ended.
func (s *java) wasNone(v room.View, it jobtree.Item, l loss) bool {
	if l.Session != 0 && l.Claim != 0 && (it.FailoverItem != 0 || it.Running.Exists()) {
		return true
	}
	if l.Session != 0 {
		return v.State.Instance(l.Instance).Session == l.Session || it.Running.Session == l.Session
	}
	if l.Wish != 0 {
		return it.FailoverItem != l.Wish || it.Running.Exists()
	}
	if l.Claim != 0 {
		return it.Claimed.Revision != l.Claim || it.FailoverItem != 0 || it.Running.Exists() || claims(v, it)
	}
	// Another Java instance that takes the remains away asks for a claimant first; who ends its work does not.
	if it.Remains.Created != l.Token {
		return v.State.Instance(l.Instance).Created != 0 || it.FailoverItem == 0
	}
	return s.lives(v, it.Number, it.Remains)
}

func (s *java) forgetLoss(item int) {
	delete(s.lost, item)
	s.ports.LookAgain(item)
}

func (s *java) proposeLoss(v room.View, batch *room.Batch, item int, l loss) {
	if !v.Config.Failover { // it had to be noted because its mark is in the way
		s.clearRemains(v, batch, item, l)
		return
	}
	txn, err := failover.DeclareForeign(v.State, item, l.Foreign, v.Clock.Now(), v.FailoverLimit())
	if err != nil {
		s.ports.Log().ErrorContext(s.ports.Life(), "cannot record a lost execution", room.KeyItem, item, room.KeyError, err)
		s.forgetLoss(item)
		return
	}
	batch.Add("declare a Java execution lost", txn, func(registry.Outcome) {
		s.forgetLoss(item)
		s.ports.Log().WarnContext(s.ports.Life(), "execution lost: its Java instance is gone", room.KeyItem, item, "lost_instance", l.Instance)
	})
}
