package failover_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// decision is a transaction of this package, in a world in which it is due.
type decision struct {
	prepare func(*world)
	decide  func(*world) registry.Txn
	// breaks are changes that refuse the transaction, and by which of its guards.
	breaks map[string]breach
	// leaves are changes that are none of its business.
	leaves map[string]func(*world)
}

type breach struct {
	change func(*world)
	guard  registry.Condition // its kind and path
}

// commonTree puts the job with item 2 assigned to lost and recorded as given.
func (w *world) commonTree(record jobtree.Record) {
	w.do(
		registry.Put(tree.Epoch(), `{"term":2,"counter":1,"total":4}`),
		registry.Put(tree.ItemInstance(item), lost),
		registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record)),
		registry.Put(tree.ItemRecord(item+1), jobtree.EncodeRecord(record)),
	)
	w.join(survivor)
}

func putOwned(path string) func(*world) {
	return func(w *world) { w.do(registry.PutOwned(path, survivor, w.sessions[survivor])) }
}

func rewrite(path string) func(*world) { return func(w *world) { w.rewrite(path) } }

func remove(path string) func(*world) { return func(w *world) { w.do(registry.Delete(path)) } }

func decisions(t *testing.T) map[string]decision {
	t.Helper()
	began := running(t, true)
	noMark := breach{putOwned(tree.ItemRunning(item)), registry.Absent(tree.ItemRunning(item))}
	record := breach{rewrite(tree.ItemRecord(item)), registry.Unchanged(tree.ItemRecord(item), 1)}
	otherItem := func(w *world) {
		w.rewrite(tree.ItemRecord(item + 1))
		putOwned(tree.ItemRunning(item + 1))(w)
	}
	requeue := decision{
		prepare: func(w *world) { w.do(registry.Put(tree.Config(), configText(t, nil))); w.commonTree(idle(t)) },
		decide: func(w *world) registry.Txn {
			s := w.state()
			require.True(w, failover.Crashed(s, item))
			txn, err := failover.Requeue(s, item)
			require.NoError(w, err)
			return txn
		},
		breaks: map[string]breach{
			"it began":                 noMark,
			"its record changed":       record,
			"it has a new owner":       {rewrite(tree.ItemInstance(item)), registry.Unchanged(tree.ItemInstance(item), 1)},
			"the tokens were raised":   {rewrite(tree.Config()), registry.Unchanged(tree.Config(), 1)},
			"it will have a new owner": {rewrite(tree.ItemNext(item)), registry.Absent(tree.ItemNext(item))},
			"its owner is back":        {func(w *world) { w.join(lost) }, registry.Absent(tree.Instance(lost))},
		},
		leaves: map[string]func(*world){
			"another item":     otherItem,
			"another instance": func(w *world) { w.join("10.0.0.3@-@1") },
		},
	}
	return map[string]decision{
		"declare": {
			prepare: func(w *world) {
				_, session := w.open()
				w.sessions[lost] = session
				w.commonTree(under(began, session))
			},
			decide: func(w *world) registry.Txn {
				s := w.state()
				require.True(w, failover.Lost(s, item))
				txn, err := failover.Declare(s, item, now, 3)
				require.NoError(w, err)
				return txn
			},
			breaks: map[string]breach{
				"something runs":               noMark,
				"its record changed":           record,
				"its instance lives after all": {func(w *world) { w.join(lost) }, registry.NotOwnedBy(tree.Instance(lost), 1)},
			},
			leaves: map[string]func(*world){
				"another item": otherItem,
				"the owner":    rewrite(tree.ItemInstance(item)),
				"the instance is back under a new session": func(w *world) {
					delete(w.sessions, lost)
					w.join(lost)
				},
			},
		},
		"declare, among Java instances": {
			prepare: func(w *world) {
				_, session := w.open()
				w.sessions[lost] = session
				w.commonTree(under(began, session))
			},
			decide: func(w *world) registry.Txn {
				nodes, revision, err := w.registry.List(w.Context(), tree.Root())
				require.NoError(w, err)
				s := readShared(registry.NewSnapshot(revision, nodes))
				require.True(w, failover.Lost(s, item))
				txn, err := failover.Declare(s, item, now, 3)
				require.NoError(w, err)
				return txn
			},
			breaks: map[string]breach{
				"it runs after all": {func(w *world) {
					w.do(registry.PutOwned(tree.ItemRunning(item), lost, w.sessions[lost]))
				}, registry.NotOwnedBy(tree.ItemRunning(item), 1)},
				"Java claimed it":              {putOwned(tree.ItemFailover(item)), registry.Absent(tree.ItemFailover(item))},
				"its record changed":           record,
				"its instance lives after all": {func(w *world) { w.join(lost) }, registry.NotOwnedBy(tree.Instance(lost), 1)},
			},
			leaves: map[string]func(*world){
				"Java runs its next fire": putOwned(tree.ItemRunning(item)),
			},
		},
		"declare what Java lost": {
			prepare: func(w *world) { w.do(registry.Put(tree.Config(), configText(t, nil))); w.commonTree(idle(t)) },
			decide: func(w *world) registry.Txn {
				if w.sessions[javaID] == nil {
					_, w.sessions[javaID] = w.open()
				}
				run := failover.Foreign{Instance: javaID, Session: w.sessions[javaID].ID(), Token: 5, Fire: now}
				txn, err := failover.DeclareForeign(w.state(), item, run, now, 3)
				require.NoError(w, err)
				return txn
			},
			breaks: map[string]breach{
				"its configuration changed": {rewrite(tree.Config()), registry.Unchanged(tree.Config(), 1)},
				"it runs after all": {func(w *world) {
					w.do(registry.PutOwned(tree.ItemRunning(item), "", w.sessions[javaID]))
				}, registry.NotOwnedBy(tree.ItemRunning(item), 1)},
				"Java is about to run it":      {putOwned(tree.ItemFailover(item)), registry.Absent(tree.ItemFailover(item))},
				"its record changed":           record,
				"its instance lives after all": {func(w *world) { w.join(javaID) }, registry.NotOwnedBy(tree.Instance(javaID), 1)},
			},
			leaves: map[string]func(*world){
				"its next fire runs": putOwned(tree.ItemRunning(item)),
				"another item":       otherItem,
				"the owner":          rewrite(tree.ItemInstance(item)),
			},
		},
		"yield to Java": {
			prepare: func(w *world) { w.commonTree(waiting(t)) },
			decide: func(w *world) registry.Txn {
				nodes, revision, err := w.registry.List(w.Context(), tree.Root())
				require.NoError(w, err)
				s := readShared(registry.NewSnapshot(revision, nodes))
				require.True(w, failover.TakenOver(s, item))
				txn, err := failover.Yield(s, item, now)
				require.NoError(w, err)
				return txn
			},
			breaks: map[string]breach{
				"its record changed":   record,
				"it asks for a runner": {rewrite(tree.FailoverItem(item)), registry.Absent(tree.FailoverItem(item))},
			},
			leaves: map[string]func(*world){
				"another item": otherItem,
				"Java runs it": putOwned(tree.ItemRunning(item)),
			},
		},
		"give up": {
			prepare: func(w *world) {
				w.do(registry.Put(tree.Config(), configText(t, func(c *job.Config) { c.Unmonitored, c.Failover = true, false })))
				w.commonTree(waiting(t))
				w.do(registry.Put(tree.FailoverItem(item), ""))
			},
			decide: func(w *world) registry.Txn {
				s := w.state()
				require.True(w, failover.Moot(s, item))
				txn, err := failover.GiveUp(s, item)
				require.NoError(w, err)
				return txn
			},
			breaks: map[string]breach{
				"its record changed":               record,
				"it asks no more":                  {remove(tree.FailoverItem(item)), registry.Unchanged(tree.FailoverItem(item), 1)},
				"executions may be recorded again": {rewrite(tree.Config()), registry.Unchanged(tree.Config(), 1)},
			},
			leaves: map[string]func(*world){
				"another item": otherItem,
				"the owner":    rewrite(tree.ItemInstance(item)),
			},
		},
		"requeue": requeue,
		"requeue, the owner is in next": {
			prepare: func(w *world) {
				requeue.prepare(w)
				w.do(
					registry.Put(tree.ItemInstance(item), survivor),
					registry.Put(tree.ItemNext(item), `{"term":2,"counter":1,"owner":"`+lost+`"}`),
				)
			},
			decide: requeue.decide,
			breaks: map[string]breach{
				"it began":                 noMark,
				"its record changed":       record,
				"the former owner changed": {rewrite(tree.ItemInstance(item)), registry.Unchanged(tree.ItemInstance(item), 1)},
				"it has a new owner":       {rewrite(tree.ItemNext(item)), registry.Unchanged(tree.ItemNext(item), 1)},
				"next is not in force":     {rewrite(tree.Epoch()), registry.Unchanged(tree.Epoch(), 1)},
				"the tokens were raised":   {rewrite(tree.Config()), registry.Unchanged(tree.Config(), 1)},
				"its owner is back":        {func(w *world) { w.join(lost) }, registry.Absent(tree.Instance(lost))},
			},
		},
		"claim": {
			prepare: func(w *world) {
				w.do(registry.Put(tree.Config(), configText(t, nil)))
				w.commonTree(waiting(t))
				w.do(registry.Put(tree.FailoverItem(item), ""), registry.Put(tree.Server("10.0.0.2"), ""))
			},
			decide: func(w *world) registry.Txn {
				s := w.state()
				require.True(w, failover.Claimable(s, item))
				txn, _, err := failover.Claim(s, item, failover.Claimant{
					Instance: survivor, Session: w.sessions[survivor], Time: now,
				})
				require.NoError(w, err)
				return txn
			},
			breaks: map[string]breach{
				"another began it":         noMark,
				"another's claim is left":  {putOwned(tree.ItemFailover(item)), registry.Absent(tree.ItemFailover(item))},
				"its record changed":       record,
				"it asks no more":          {remove(tree.FailoverItem(item)), registry.Unchanged(tree.FailoverItem(item), 1)},
				"it was disabled":          {rewrite(tree.ItemDisabled(item)), registry.Absent(tree.ItemDisabled(item))},
				"the server was disabled":  {func(w *world) { w.do(registry.Put(tree.Server("10.0.0.2"), "DISABLED")) }, registry.Unchanged(tree.Server("10.0.0.2"), 1)},
				"the total was lowered":    {func(w *world) { w.do(registry.Put(tree.Epoch(), `{"term":2,"counter":2,"total":1}`)) }, registry.Unchanged(tree.Epoch(), 1)},
				"the tokens were raised":   {rewrite(tree.Config()), registry.Unchanged(tree.Config(), 1)},
				"the claimant is gone":     {remove(tree.Instance(survivor)), registry.CreatedAt(tree.Instance(survivor), 1)},
				"the claimant joined anew": {func(w *world) { remove(tree.Instance(survivor))(w); w.join(survivor) }, registry.CreatedAt(tree.Instance(survivor), 1)},
			},
			leaves: map[string]func(*world){
				"another item": otherItem,
				"the claimant's node": func(w *world) {
					w.do(registry.Update(tree.Instance(survivor), jobtree.InstanceTriggered))
				},
				"another server": rewrite(tree.Server("10.0.0.3")),
			},
		},
	}
}

// under returns a record of which the execution that runs is of a session.
func under(record jobtree.Record, session *registry.Session) jobtree.Record {
	current := *record.Current
	current.Session = session.ID()
	record.Current = &current
	return record
}

// A decision that was overtaken is refused, by the very guard that is there for it, and no guard is
// there for nothing.
func TestEachGuardMatters(t *testing.T) {
	t.Parallel()
	for name, d := range decisions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var guards, broken []registry.Condition
			for change, breach := range d.breaks {
				w := newWorld(t)
				d.prepare(w)
				txn := d.decide(w)
				breach.change(w)
				refusal := w.commit(txn)
				require.NotNil(t, refusal, change)
				require.Equal(t, breach.guard.Kind, refusal.Kind, change)
				require.Equal(t, breach.guard.Path, refusal.Path, change)
				guards, broken = txn.Guards(), append(broken, anyRevision(*refusal))
			}
			for _, guard := range guards {
				require.Contains(t, broken, anyRevision(guard), "a guard that nothing breaks")
			}
		})
	}
}

// anyRevision is the condition without what differs from world to world.
func anyRevision(c registry.Condition) registry.Condition {
	return registry.Condition{Kind: c.Kind, Path: c.Path}
}

// What happens elsewhere refuses nothing.
func TestADecisionIsNotRefusedForNothing(t *testing.T) {
	t.Parallel()
	for name, d := range decisions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d.prepare(w)
			txn := d.decide(w)
			for _, change := range d.leaves {
				change(w)
			}
			require.Nil(t, w.commit(txn))
		})
	}
}

// Of any number of changes, one that matters is enough, and a transaction that was refused wrote
// nothing.
func TestOneChangeThatMattersIsEnough(t *testing.T) {
	t.Parallel()
	for name, d := range decisions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				w := newWorld(t)
				d.prepare(w)
				txn := d.decide(w)
				some := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(d.breaks))), 1, 3, rapid.ID)
				for _, change := range some.Draw(t, "changes") {
					if stillPossible(w, d.breaks[change]) {
						d.breaks[change].change(w)
					}
				}
				before := w.state()
				require.NotNil(t, w.commit(txn))
				require.Equal(t, before, w.state())
			})
		})
	}
}

// stillPossible tells whether a change can come after those that came already: nobody creates a node
// of a session twice.
func stillPossible(w *world, b breach) bool {
	if b.guard.Kind == registry.CondUnchanged || b.guard.Path == tree.ItemNext(item) {
		return true
	}
	_, err := w.registry.Get(w.Context(), b.guard.Path)
	if b.guard.Kind == registry.CondCreatedAt {
		return err == nil
	}
	return err != nil
}

// A decision is carried out once: of several that try, one wins.
func TestOneOfSeveralWins(t *testing.T) {
	t.Parallel()
	for name, d := range decisions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d.prepare(w)
			first, second := d.decide(w), d.decide(w)
			require.Nil(t, w.commit(first))
			require.NotNil(t, w.commit(second))
			s := w.state()
			require.False(t, failover.Lost(s, item))
			require.False(t, failover.Crashed(s, item))
		})
	}
}
