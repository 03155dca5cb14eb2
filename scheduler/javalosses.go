package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// confirmLoss is how long a Java instance must stay away to have crashed. It deletes its own node and
// makes it anew when it reconnects, and other Java instances may take over what it ran.
const confirmLoss = time.Second

// losses are executions of Java instances whose mark vanished in one step with their instance: what both
// belonged to, the session, is over. It is the only sign of a crash that Java leaves, and only those who
// saw it know.
type losses struct {
	lost map[int]loss // by item
}

type loss struct {
	failover.Foreign
	seen   time.Time
	record registry.Revision // of the item then
}

// lookForCrashes notes what a step takes away of executions that nobody recorded.
func (s *shared) lookForCrashes(step registry.Step) {
	r := s.runner
	s.noteClaims(step)
	if !r.settings.ok || !r.settings.config.Failover {
		return
	}
	gone := make(map[registry.SessionID]string)
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if ok && name.Kind == jobtree.KindInstance && change.Old.Ephemeral() && !change.New.Exists() {
			gone[change.Old.Session] = name.Key
		}
	}
	if len(gone) == 0 {
		return
	}
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		instance, crashed := gone[change.Old.Session]
		if !ok || name.Kind != jobtree.KindItemRunning || change.New.Exists() || !crashed {
			continue
		}
		record := r.state.Item(name.Item).Record
		if record.Value.State == jobtree.ItemRunning && record.Value.Current.Session == change.Old.Session {
			continue // one of ours: the record tells
		}
		s.noteLoss(name.Item, loss{record: record.Revision, seen: time.Now(), Foreign: failover.Foreign{
			Instance: instance, Session: change.Old.Session, Token: change.Old.Created,
		}})
	}
}

// noteClaims leaves to Java what Java claims, however short that takes.
func (s *shared) noteClaims(step registry.Step) {
	if len(s.lost) == 0 {
		return
	}
	for _, change := range step.Changes {
		if name, ok := jobtree.Parse(change.Path()); ok && name.Kind == jobtree.KindItemFailover {
			s.forgetLoss(name.Item)
		}
	}
}

func (s *shared) noteLoss(item int, l loss) {
	r := s.runner
	now := r.s.now()
	l.Fire = cronexpr.Last(r.settings.schedule, now.Add(-366*24*time.Hour), now)
	if s.lost == nil {
		s.lost = make(map[int]loss)
	}
	s.lost[item] = l
}

// maybeLost tells whether an item waits for it to be settled that a Java instance lost it.
func (s *shared) maybeLost(item int) bool {
	_, pending := s.lost[item]
	return pending
}

// settleLosses has what Java instances lost run again, when it is certain and no Java instance does so.
// Of several processes that saw it the leader declares it, the owner, or, if Java leads, whoever is first;
// the others, a moment later, what those did not see. That another Java instance runs the item meanwhile
// is no rerun: it got the item, and its next fire came.
func (s *shared) settleLosses() {
	r := s.runner
	var batch proposals
	for item, l := range s.lost {
		it := r.state.Item(item)
		back := r.state.Instance(l.Instance).Session == l.Session
		if back || it.Running.Session == l.Session || it.Failover.Exists() || it.Record.Revision != l.record {
			s.forgetLoss(item)
			continue
		}
		confirm := confirmLoss
		if !r.leads() && !r.owns(item) && !r.state.LedByJava() {
			confirm *= 3
		}
		if wait := confirm - time.Since(l.seen); wait > 0 {
			r.alarm.Set(wait)
			continue
		}
		s.proposeLoss(&batch, item, l) // forgotten when it is recorded, by whomever
	}
	r.commitAll(r.attached.ctx, "declare a Java execution lost", batch)
}

func (s *shared) forgetLoss(item int) {
	delete(s.lost, item)
	s.runner.toConsider.Note([]int{item}, false)
}

func (s *shared) proposeLoss(batch *proposals, item int, l loss) {
	r := s.runner
	txn, err := failover.DeclareForeign(r.state, item, l.Foreign, r.s.now(), r.failoverLimit())
	if err != nil {
		r.log.ErrorContext(r.life, "cannot record a lost execution", logItem, item, logError, err)
		s.forgetLoss(item)
		return
	}
	batch.add(txn, func(o registry.Outcome) {
		r.committed(o.Revision)
		s.forgetLoss(item)
		r.log.WarnContext(r.life, "execution lost: its Java instance is gone", logItem, item, "lost_instance", l.Instance)
	})
}

// yield leaves to Java what Java instances run again of ours.
func (s *shared) yield() {
	r := s.runner
	var batch proposals
	for item := range s.taken.Take(r.state.Items()) {
		if !failover.TakenOver(r.state, item) {
			continue
		}
		txn, err := failover.Yield(r.state, item, r.s.now())
		if err != nil {
			r.log.ErrorContext(r.life, "cannot leave an execution to Java", logItem, item, logError, err)
			continue
		}
		batch.add(txn, func(o registry.Outcome) {
			r.committed(o.Revision)
			r.log.InfoContext(r.life, "a Java instance runs a lost execution again", logItem, item)
		})
	}
	r.commitAll(r.attached.ctx, "leave to Java", batch)
}
