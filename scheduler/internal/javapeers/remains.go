package javapeers

import (
	"cmp"
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// noteRemains notes the marks that instances of Java's left which are gone. They stay in the tree, so whoever comes
// later sees them as well.
func (s *java) noteRemains(v room.View) {
	if s.of != jobtree.ElasticJob3 || !v.Usable {
		return
	}
	for _, item := range s.left.Take(v.State.Items()) {
		it := v.State.Item(item)
		if _, noted := s.lost[item]; noted || it.Record.Err != nil {
			continue
		}
		if !it.Remains.Exists() {
			s.noteWish(v, it)
			s.noteClaimant(v, it)
			continue
		}
		if r := it.Record.Value; r.State == jobtree.ItemRunning && r.Current.Instance == it.Remains.Value && r.Token(it.Record.Revision) == it.Remains.Created {
			continue // one of ours: the record tells
		}
		if s.lives(v, item, it.Remains) {
			s.remember(item, death{mark: it.Remains.Created, session: v.State.Instance(it.Remains.Value).Session})
			continue
		}
		run := failover.Foreign{Instance: it.Remains.Value, Token: it.Remains.Created}
		if s.died[item].mark == it.Remains.Created {
			run.Fire = s.lastFire(v, item)
		}
		other := v.State.Instance(run.Instance).Created
		s.noteLoss(item, loss{record: it.Record.Revision, other: other, seen: time.Now(), Foreign: run})
		s.ports.Wake(confirmLoss)
	}
}

// noteWish notes that another Java instance asks for a claimant. It claims as soon as it is idle, and so does every
// other one at the end of its next round; the last of them may be gone by then.
func (s *java) noteWish(v room.View, it jobtree.Item) {
	if it.FailoverItem == 0 || !unclaimed(v, it) {
		return
	}
	run := failover.Foreign{Token: it.FailoverItem, Wish: it.FailoverItem}
	seen := s.lastRun(it.Number)
	run.Instance = cmp.Or(seen, v.State.Owner(it.Number), unknownInstance)
	if seen != "" {
		run.Fire = s.lastFire(v, it.Number)
	}
	s.noteLoss(it.Number, loss{record: it.Record.Revision, seen: time.Now(), Foreign: run})
	s.ports.Wake(confirmLoss)
}

// unclaimed tells whether nobody runs an item, has claimed it, or has it waiting by its record.
func unclaimed(v room.View, it jobtree.Item) bool {
	state := it.Record.Value.State
	return v.Config.Failover && !it.Failover.Exists() && !it.Running.Exists() && state != jobtree.ItemRunning && state != jobtree.ItemWaiting
}

// noteClaimant notes that a Java instance is gone that had claimed an item and had not begun. Java instances that see
// it die ask for a claimant.
func (s *java) noteClaimant(v room.View, it jobtree.Item) {
	claimant := it.Claimed.Value
	if it.FailoverItem != 0 || !jobtree.JavaInstance(claimant) || claims(v, it) || !unclaimed(v, it) {
		return
	}
	run := failover.Foreign{Instance: claimant, Token: it.Claimed.Created, Claim: it.Claimed.Revision}
	if s.lastRun(it.Number) != "" {
		run.Fire = s.lastFire(v, it.Number)
	}
	other := v.State.Instance(claimant).Created
	s.noteLoss(it.Number, loss{record: it.Record.Revision, other: other, seen: time.Now(), Foreign: run})
	s.ports.Wake(confirmLoss)
}

// claims tells whether the instance is there that has claimed an item, and not another one of its id. A process that
// connects again under its session keeps the ephemeral node of its claim.
func claims(v room.View, it jobtree.Item) bool {
	return v.State.Instance(it.Claimed.Value).Created != 0 && v.State.Instance(it.Claimed.Value).Created < it.Claimed.Revision
}

// unknownInstance stands for an instance of which nobody here has seen anything.
const unknownInstance = "null@-@0"

// clearRemains proposes to take away a mark that a gone instance left of an item that nobody is to run again.
func (s *java) clearRemains(v room.View, batch *room.Batch, item int, l loss) {
	conditions, writes := v.State.TakeRemains(item)
	if conditions == nil {
		s.forgetLoss(item)
		return
	}
	txn := registry.Txn{If: append(conditions, v.State.SameInstance(l.Instance)), Then: writes}
	batch.Add("clear a mark of Java's", txn, func(registry.Outcome) {
		s.forgetLoss(item)
		s.ports.Log().InfoContext(s.ports.Life(), "removed the mark of a Java instance that is gone", room.KeyItem, item, "lost_instance", l.Instance)
	})
}
