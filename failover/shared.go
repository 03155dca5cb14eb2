package failover

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Foreign is an execution of an instance that keeps no records: of Java. That it was lost is known only
// to those who saw its mark vanish together with its instance.
type Foreign struct {
	Instance string             // the one that ran the item
	Session  registry.SessionID // under which; 0 = not known, as its mark outlived it
	Token    registry.Revision  // that created its mark
	Fire     time.Time          // the newest that it may stand for; zero if none is known
	// Wish is the revision of the node by which another instance of its kind asks for a claimant, if that alone tells
	// that it was lost; 0 otherwise.
	Wish registry.Revision
	// Claim is the revision of the mark by which the instance had claimed the item, if it was gone before it began; 0
	// otherwise. With a session, the mark went with that.
	Claim registry.Revision
}

// DeclareForeign returns the transaction that has an execution of a Java instance that was lost run again. now goes into the
// record; limit is as for [Declare]. The caller has seen that the item is not claimed, and that an instance of the same id,
// if there is one, is another process. A mark of another session is of another execution.
func DeclareForeign(s *jobtree.State, item int, run Foreign, now time.Time, limit int) (registry.Txn, error) {
	it, tree := s.Item(item), s.Tree()
	begin := jobtree.Begin{
		Instance: run.Instance, Session: run.Session, Time: now, Failover: true, Source: job.Scheduled, Fire: run.Fire,
	}
	if begin.Session == 0 { // the mark's creation stands for the session that made it
		begin.Session = registry.SessionID(run.Token)
	}
	known := run.Fire.After(it.Record.Value.LastFire)
	if !known { // no fire, and no request that is known: the number is for Begin alone
		begin.Source, begin.Fire, begin.Trigger = job.Manual, time.Time{}, max(run.Token, it.Record.Value.Trigger+1)
	}
	record, err := it.Record.Value.Begin(begin)
	if err != nil {
		return registry.Txn{}, err
	}
	if record, err = record.DeclareLost(int64(run.Token), now, limit); err != nil {
		return registry.Txn{}, err
	}
	if !known { // a request that is pending stays so
		record.Trigger, record.Current.Trigger = it.Record.Value.Trigger, 0
	}
	txn := registry.Txn{
		If: append(run.gone(s, item),
			registry.Unchanged(tree.ItemRecord(item), it.Record.Revision),
			registry.Absent(tree.ItemFailover(item)),
			registry.Unchanged(tree.Config(), s.Config.Revision), // whoever removes the record changes it first
		),
		Then:   []registry.Write{registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record))},
		Repeat: registry.RepeatCreation,
	}
	if s.Layout() == jobtree.ElasticJob3 {
		_, remains := s.TakeRemains(item)
		txn.Then = append(append(txn.Then, remains...), registry.Delete(tree.ItemFailovering(item))) // which would have others claim it once more
	}
	if record.State == jobtree.ItemWaiting {
		txn.Then = append(txn.Then, registry.Put(tree.FailoverItem(item), ""))
	}
	return txn, nil
}

// gone are the conditions under which the instance that ran the item is gone, and its mark with it.
func (run Foreign) gone(s *jobtree.State, item int) []registry.Condition {
	tree := s.Tree()
	if run.Session != 0 {
		running := registry.NotOwnedBy(tree.ItemRunning(item), run.Session)
		if run.Claim != 0 { // it had not begun, so what runs may be that
			running = registry.Absent(tree.ItemRunning(item))
		}
		return []registry.Condition{running, registry.NotOwnedBy(tree.Instance(run.Instance), run.Session)}
	}
	if run.Wish != 0 {
		return []registry.Condition{registry.Unchanged(tree.FailoverItem(item), run.Wish), registry.Absent(tree.ItemRunning(item))}
	}
	gone := []registry.Condition{s.SameInstance(run.Instance)}
	if run.Claim != 0 {
		return append(gone, registry.Unchanged(tree.ItemFailovering(item), run.Claim), registry.Absent(tree.ItemRunning(item)), registry.Absent(tree.FailoverItem(item)))
	}
	if remains, _ := s.TakeRemains(item); remains != nil {
		return append(gone, remains...)
	}
	// Another instance has taken the mark away, to ask for a claimant. It may have claimed the item since, and have begun.
	return append(gone, registry.Absent(tree.ItemRunning(item)), registry.Unchanged(tree.FailoverItem(item), s.Item(item).FailoverItem))
}

// TakenOver tells whether a Java instance runs, or is about to run, an execution that the record has as
// lost or waiting: it took the wish for a claimant away, or claimed the item. That it runs the item says
// nothing: the item may have come to it, and its next fire too.
func TakenOver(s *jobtree.State, item int) bool {
	it := s.Item(item)
	record := it.Record.Value
	if !s.SharedWithJava() || it.Record.Err != nil || record.Current == nil {
		return false
	}
	switch record.State {
	case jobtree.ItemWaiting:
		return it.FailoverItem == 0
	case jobtree.ItemRunning:
		claimed := it.Failover.Exists() && it.Failover.Session != record.Current.Session
		return claimed && s.Instance(record.Current.Instance).Session != record.Current.Session
	default:
		return false
	}
}

// Yield returns the transaction that leaves an execution of which [TakenOver] is true to Java.
func Yield(s *jobtree.State, item int, now time.Time) (registry.Txn, error) {
	it, tree := s.Item(item), s.Tree()
	record, err := it.Record.Value.TakenOver(int64(it.Record.Revision), now)
	if err != nil {
		return registry.Txn{}, err
	}
	return registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(tree.ItemRecord(item), it.Record.Revision),
			registry.Unchanged(tree.FailoverItem(item), it.FailoverItem),
		},
		Then: []registry.Write{registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record))},
	}, nil
}
