package operate_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// attempt is an operation, in a world in which it can be done.
type attempt struct {
	prepare func(*ground)
	do      func(context.Context, *ground) error
	// breaks are changes between the reading and the commit that refuse the transaction, and by which of its guards.
	breaks map[string]breach
	// which of the operation's transactions is meant, by how many come before it.
	after int
}

type breach struct {
	change func(*ground)
	guard  registry.Condition // its kind and path
	// same says why the operation does the same without the guard as with it; empty if it does something else.
	same string
}

func rewrite(path string) func(*ground) {
	return func(g *ground) { g.do(registry.Put(path, g.value(path))) }
}

// settings has somebody change the settings by hand.
func settings(fn func(*job.Config)) func(*ground) {
	return func(g *ground) {
		cfg := g.tree().Config.Value
		fn(&cfg)
		text, err := jobtree.EncodeConfig(cfg)
		require.NoError(g, err)
		g.do(registry.Put(nodes.Config(), text))
	}
}

func stopped(c *job.Config) { c.Disabled = true }

func running(c *job.Config) { c.Disabled = false }

// leavesAgain has an instance go, and another come under its id that is told to leave by hand.
func leavesAgain(id string) func(*ground) {
	return func(g *ground) {
		g.leave(id)
		g.join(id)
		g.do(registry.Update(nodes.Instance(id), jobtree.InstanceShutdown))
	}
}

func remove(path string) func(*ground) {
	return func(g *ground) { g.do(registry.Delete(path)) }
}

func put(path, value string) func(*ground) {
	return func(g *ground) { g.do(registry.Put(path, value)) }
}

func nothing(*ground) {}

// operatedBefore has somebody have operated the job.
func operatedBefore(g *ground) {
	g.do(registry.Put(nodes.Operated(), jobtree.EncodeOperated(jobtree.Operated{}.With(jobtree.Operation{ID: "earlier", Verb: "reshard", Who: "bert"}))))
}

func attempts() map[string]attempt {
	// with are the breaches of what every operation compares, the second being a change of the settings by hand, and more.
	with := func(changed func(*ground), more map[string]breach) map[string]breach {
		all := map[string]breach{
			"somebody operates the job": {change: operatedBefore, guard: registry.Absent(nodes.Operated())},
			"its settings change":       {change: changed, guard: registry.Unchanged(nodes.Config(), 1)},
		}
		maps.Copy(all, more)
		return all
	}
	gone := remove(nodes.Config())
	operated := registry.Unchanged(nodes.Operated(), 1)
	newer := breach{change: put(nodes.Operated(), `{"format":9}`), guard: registry.Absent(nodes.Operated())}
	calledOff := func(g *ground) {
		text := g.operated()
		text.Removing = ""
		g.do(registry.Put(nodes.Operated(), jobtree.EncodeOperated(text)))
	}
	waitingItem := func(g *ground) {
		g.do(registry.Put(nodes.ItemRecord(1), jobtree.EncodeRecord(lostRecord(g))), registry.Put(nodes.FailoverItem(1), ""))
	}
	server := nodes.Server("10.0.0.1")
	begins := breach{change: put(nodes.Move(), `{"id":"M","state":"drained"}`), guard: registry.Absent(nodes.Move())}
	pending := put(nodes.Triggered(), `{"until":"2999-01-01T00:00:00Z"}`)
	return map[string]attempt{
		"disable job": {
			prepare: nothing, breaks: with(settings(daily1), nil),
			do: func(ctx context.Context, g *ground) error { return errOf(g.op.DisableJob(ctx, theJob, silent())) },
		},
		"disable job, beside Java": {
			prepare: func(g *ground) { g.store.java = true; g.join(aJava); g.leave(first); g.leave(second) },
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.DisableJob(ctx, theJob, silent())) },
			breaks: with(settings(daily1), map[string]breach{
				"its server is disabled": {change: put(nodes.Server("10.0.0.3"), "DISABLED"), guard: registry.Absent(nodes.Server("10.0.0.3"))},
			}),
		},
		"enable job": {
			prepare: settings(stopped),
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.EnableJob(ctx, theJob, silent())) },
			breaks:  with(settings(daily1), map[string]breach{"it begins to move": begins}),
		},
		"enable job, beside Java": {
			prepare: func(g *ground) {
				g.store.java = true
				g.join(aJava)
				g.leave(first)
				g.leave(second)
				require.NoError(g, errOf(g.op.DisableJob(g.Context(), theJob, silent())))
			},
			do: func(ctx context.Context, g *ground) error { return errOf(g.op.EnableJob(ctx, theJob, silent())) },
			breaks: map[string]breach{
				"somebody operates the job": {change: rewriteOperated, guard: operated},
				"its settings change":       {change: settings(daily1), guard: registry.Unchanged(nodes.Config(), 1)},
				"its server is forgotten":   {change: remove(nodes.Server("10.0.0.3")), guard: registry.Unchanged(nodes.Server("10.0.0.3"), 1)},
				"it begins to move":         begins,
			},
		},
		"disable item": {
			prepare: nothing,
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.DisableItem(ctx, theJob, 1, silent())) },
			breaks: with(gone, map[string]breach{
				"it is disabled": {change: put(nodes.ItemDisabled(1), ""), guard: registry.Absent(nodes.ItemDisabled(1))},
			}),
		},
		"enable item": {
			prepare: put(nodes.ItemDisabled(1), ""),
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.EnableItem(ctx, theJob, 1, silent())) },
			breaks: with(gone, map[string]breach{
				"it is enabled": {change: remove(nodes.ItemDisabled(1)), guard: registry.Unchanged(nodes.ItemDisabled(1), 1)},
			}),
		},
		"disable server": {
			prepare: nothing,
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.DisableServer(ctx, theJob, "10.0.0.1", silent()))
			},
			breaks: with(gone, map[string]breach{"it is disabled": {change: put(server, "DISABLED"), guard: registry.Absent(server)}}),
		},
		"enable server": {
			prepare: put(server, "DISABLED"),
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.EnableServer(ctx, theJob, "10.0.0.1", silent()))
			},
			breaks: with(gone, map[string]breach{"it is enabled": {change: put(server, ""), guard: registry.Unchanged(server, 1)}}),
		},
		"enable server, beside Java": {
			prepare: func(g *ground) { g.store.java = true; g.do(registry.Put(server, "DISABLED")) },
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.EnableServer(ctx, theJob, "10.0.0.1", silent()))
			},
			breaks: with(gone, map[string]breach{
				"it is enabled":     {change: put(server, ""), guard: registry.Unchanged(server, 1)},
				"it begins to move": begins,
			}),
		},
		"trigger": {
			prepare: nothing,
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.Trigger(ctx, theJob, operate.Trigger{}, silent()))
			},
			breaks: with(settings(stopped), map[string]breach{"it is triggered": {change: pending, guard: registry.Absent(nodes.Triggered())}}),
		},
		"backfill": {
			prepare: func(g *ground) {
				g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Failover, c.Unmonitored = false, true }))) // so that nobody is waited for
			},
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.Backfill(ctx, theJob, everyFive(1), operate.Trigger{}, silent()))
			},
			breaks: with(settings(stopped), map[string]breach{
				"it is triggered": {
					change: pending, guard: registry.Absent(nodes.Triggered()),
					same: "where executions are not recorded nobody knows whether a trigger is pending, so each takes the place of the one before",
				},
			}),
		},
		"trigger, beside Java": {
			prepare: func(g *ground) {
				g.store.java = true
				g.join(aJava)
				g.do(registry.Put(nodes.Triggered(), `{"until":"2001-01-01T00:00:00Z"}`))
			},
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.Trigger(ctx, theJob, operate.Trigger{Replace: true}, silent()))
			},
			breaks: with(gone, map[string]breach{
				"it is triggered": {
					change: rewrite(nodes.Triggered()), guard: registry.Unchanged(nodes.Triggered(), 1),
					same: "beside Java nobody knows whether a trigger is pending, so each takes the place of the one before",
				},
				"Java is triggered": {
					change: func(g *ground) { g.do(registry.Update(nodes.Instance(aJava), jobtree.InstanceTriggered)) },
					guard:  registry.Unchanged(nodes.Instance(aJava), 1),
					same:   "whoever has not answered yet is asked once, by whomever",
				},
			}),
		},
		"shut down": {
			prepare: nothing,
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.ShutDown(ctx, theJob, first, silent())) },
			breaks:  with(gone, map[string]breach{"it joins anew": {change: leavesAgain(first), guard: registry.CreatedAt(nodes.Instance(first), 1)}}),
		},
		"shut Java down": {
			prepare: func(g *ground) { g.store.java = true; g.join(aJava) },
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.ShutDown(ctx, theJob, aJava, silent())) },
			breaks:  with(gone, map[string]breach{"it joins anew": {change: leavesAgain(aJava), guard: registry.CreatedAt(nodes.Instance(aJava), 1)}}),
		},
		"change settings": {
			prepare: nothing,
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.ChangeSettings(ctx, theJob, operate.Settings{Change: daily}, silent()))
			},
			breaks: with(settings(stopped), nil),
		},
		"roll back": {
			prepare: func(g *ground) {
				r, err := g.op.ChangeSettings(g.Context(), theJob, operate.Settings{Change: daily}, operate.Options{ID: "slip"})
				require.NoError(g, err)
				require.Equal(g, "slip", r.ID)
			},
			do: func(ctx context.Context, g *ground) error { return errOf(g.op.RollBack(ctx, theJob, "slip", silent())) },
			breaks: map[string]breach{
				"somebody operates the job": {change: rewriteOperated, guard: operated},
				"its settings change":       {change: settings(stopped), guard: registry.Unchanged(nodes.Config(), 1)},
			},
		},
		"create": {
			prepare: func(g *ground) { g.do(registry.DeleteTree(nodes.Root())) },
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.Create(ctx, g.config(nil), silent())) },
			breaks: map[string]breach{
				"somebody operates the job": {change: operatedBefore, guard: registry.Absent(nodes.Operated())},
				"somebody creates it":       {change: func(g *ground) { g.do(registry.Put(nodes.Config(), g.text(daily1))) }, guard: registry.Absent(nodes.Config())},
				"it begins to move":         begins,
			},
		},
		"take files": {
			prepare: nothing,
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.TakeFiles(ctx, theJob, g.text(daily1), operate.Files{Owner: "shop", Version: 1}, silent()))
			},
			breaks: with(settings(stopped), nil),
		},
		"take files again": {
			prepare: func(g *ground) {
				require.NoError(g, errOf(g.op.TakeFiles(g.Context(), theJob, g.text(nil), shopFiles(1), silent())))
				require.NoError(g, errOf(g.op.LeaveFiles(g.Context(), theJob, shopFiles(2), operate.GoneDisable, silent())))
			},
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.TakeFiles(ctx, theJob, g.text(daily1), shopFiles(3), silent()))
			},
			breaks: map[string]breach{
				"somebody operates the job": {change: rewriteOperated, guard: operated},
				"its settings change":       {change: settings(func(c *job.Config) { c.Cron = "0 0 4 * * ?" }), guard: registry.Unchanged(nodes.Config(), 1)},
				"it begins to move":         begins,
			},
		},
		"leave files": {
			prepare: func(g *ground) {
				require.NoError(g, errOf(g.op.TakeFiles(g.Context(), theJob, g.text(nil), operate.Files{Owner: "shop", Version: 1}, silent())))
			},
			do: func(ctx context.Context, g *ground) error {
				return errOf(g.op.LeaveFiles(ctx, theJob, operate.Files{Owner: "shop", Version: 2}, operate.GoneDisable, silent()))
			},
			breaks: map[string]breach{
				"somebody operates the job": {change: rewriteOperated, guard: operated},
				"its settings change":       {change: settings(stopped), guard: registry.Unchanged(nodes.Config(), 1)},
			},
		},
		"begin to remove": {
			prepare: func(g *ground) { g.leave(first); g.leave(second) },
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.Remove(ctx, theJob, silent())) },
			breaks: map[string]breach{
				"somebody operates the job": newer,
				"its settings change":       {change: put(nodes.Config(), "}{"), guard: registry.Unchanged(nodes.Config(), 1)},
				"it begins to move":         begins,
			},
		},
		"remove": {
			after:   1,
			prepare: func(g *ground) { g.leave(first); g.leave(second) },
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.Remove(ctx, theJob, silent())) },
			breaks: map[string]breach{
				"it is called off":    {change: calledOff, guard: operated},
				"its settings change": {change: settings(running), guard: registry.Unchanged(nodes.Config(), 1)},
				"it begins to move":   begins,
			},
		},
		"remove, its configuration first": {
			after:   2, // the whole of it, which is too much, comes before
			prepare: crowded,
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.Remove(ctx, theJob, silent())) },
			breaks: map[string]breach{
				"it is called off":    {change: calledOff, guard: operated},
				"its settings change": {change: settings(running), guard: registry.Unchanged(nodes.Config(), 1)},
				"it begins to move":   begins,
			},
		},
		"remove, a part": {
			after:   3,
			prepare: crowded,
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.Remove(ctx, theJob, silent())) },
			breaks: map[string]breach{
				"it is called off": {change: calledOff, guard: operated},
				"it is declared":   {change: func(g *ground) { g.do(registry.Put(nodes.Config(), g.text(daily1))) }, guard: registry.Absent(nodes.Config())},
			},
		},
		"remove, the rest": {
			after:   5,
			prepare: crowded,
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.Remove(ctx, theJob, silent())) },
			breaks: map[string]breach{
				"it is called off": {change: calledOff, guard: operated},
				"it is declared":   {change: func(g *ground) { g.do(registry.Put(nodes.Config(), g.text(daily1))) }, guard: registry.Absent(nodes.Config())},
			},
		},
		"give up": {
			prepare: waitingItem,
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.GiveUp(ctx, theJob, 1, silent())) },
			breaks: with(gone, map[string]breach{
				"it is given up": {
					change: func(g *ground) {
						record, err := lostRecord(g).GiveUp()
						require.NoError(g, err)
						g.do(registry.Put(nodes.ItemRecord(1), jobtree.EncodeRecord(record)))
					},
					guard: registry.Unchanged(nodes.ItemRecord(1), 1),
				},
				"it asks for a runner again": {
					change: rewrite(nodes.FailoverItem(1)), guard: registry.Unchanged(nodes.FailoverItem(1), 1),
					same: "the record, which is compared, says what the item waits for",
				},
			}),
		},
		"give up, before it asks for a runner": {
			prepare: func(g *ground) { g.do(registry.Put(nodes.ItemRecord(1), jobtree.EncodeRecord(lostRecord(g)))) },
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.GiveUp(ctx, theJob, 1, silent())) },
			breaks: with(gone, map[string]breach{
				"it is given up":       {change: remove(nodes.ItemRecord(1)), guard: registry.Unchanged(nodes.ItemRecord(1), 1)},
				"it asks for a runner": {change: put(nodes.FailoverItem(1), ""), guard: registry.Absent(nodes.FailoverItem(1))},
			}),
		},
		"tidy": {
			prepare: put(nodes.Server("10.0.0.9"), ""),
			do:      func(ctx context.Context, g *ground) error { return errOf(g.op.TidyServers(ctx, theJob, nil, silent())) },
			breaks: with(gone, map[string]breach{
				"it is disabled": {change: put(nodes.Server("10.0.0.9"), "DISABLED"), guard: registry.Unchanged(nodes.Server("10.0.0.9"), 1)},
			}),
		},
		"reshard": {
			prepare: nothing, breaks: with(gone, nil),
			do: func(ctx context.Context, g *ground) error { return errOf(g.op.Reshard(ctx, theJob, silent())) },
		},
	}
}

// rewriteOperated has somebody else operate a job that was operated before.
func rewriteOperated(g *ground) {
	g.do(registry.Put(nodes.Operated(), jobtree.EncodeOperated(g.operated().With(jobtree.Operation{ID: "other", Verb: "reshard", Who: "bert"}))))
}

// crowded is a job on which nobody lives, with more nodes than the registry deletes at once.
func crowded(g *ground) {
	g.leave(first)
	g.leave(second)
	var writes []registry.Write
	for n := range 50 {
		writes = append(writes, registry.Put(nodes.Offset(n), "x"))
	}
	g.do(writes...)
	g.store.noTrees = 3
}

// outcome is what a job is like in the end: its nodes, without what is other each time.
func (g *ground) outcome() map[string]string {
	g.Helper()
	all := make(map[string]string)
	for _, n := range g.all() {
		name, _ := jobtree.Parse(n.Path)
		switch name.Kind {
		case jobtree.KindTriggered:
			n.Value = "asked"
		case jobtree.KindOperated:
			if operated, err := jobtree.DecodeOperated(n); err == nil {
				for i := range operated.Operations {
					operated.Operations[i].ID, operated.Operations[i].When = "", time.Time{}
				}
				n.Value = jobtree.EncodeOperated(operated)
			}
		}
		all[n.Path] = n.Value
	}
	return all
}

// daily is a change of settings.
func daily(c *job.Config) error { c.Cron = "0 0 3 * * ?"; return nil }

func daily1(c *job.Config) { _ = daily(c) }

// lostRecord is the record of an item whose execution was lost and is to run again.
func lostRecord(g *ground) jobtree.Record {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	record, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: first, Session: 7, Source: job.Scheduled, Fire: at, Failover: true, Time: at})
	require.NoError(g, err)
	record, err = record.DeclareLost(5, at, 3)
	require.NoError(g, err)
	require.Equal(g, jobtree.ItemWaiting, record.State)
	return record
}

// ahead has the transaction that an attempt is about be seen before it is sent.
func (a attempt) ahead(g *ground, fn func(registry.Txn) registry.Txn) {
	skipped := 0
	var each func(registry.Txn) registry.Txn
	each = func(txn registry.Txn) registry.Txn {
		if skipped++; skipped <= a.after {
			g.store.mu.Lock()
			g.store.before = each
			g.store.mu.Unlock()
			return txn
		}
		return fn(txn)
	}
	g.store.next(each)
}

// Each guard of each operation refuses the change that it is there for, and without it nothing does: then something
// goes wrong, as what is done is not what is decided about the job as it is. No guard is there for nothing.
func TestEachGuardMatters(t *testing.T) {
	t.Parallel()
	for name, a := range attempts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var guards, broken []registry.Condition
			for change, breach := range a.breaks {
				g := newGround(t)
				a.prepare(g)
				a.ahead(g, func(txn registry.Txn) registry.Txn {
					guards = txn.Guards()
					breach.change(g)
					return txn
				})
				_ = a.do(t.Context(), g)
				var conflict *registry.ConflictError
				require.ErrorAs(t, g.store.errs[a.after], &conflict, change)
				require.Equal(t, breach.guard.Kind, conflict.Condition.Kind, change)
				require.Equal(t, breach.guard.Path, conflict.Condition.Path, change)
				broken = append(broken, anyRevision(conflict.Condition))
				decidedAgain := g.outcome()

				g = newGround(t)
				a.prepare(g)
				a.ahead(g, func(txn registry.Txn) registry.Txn {
					breach.change(g)
					txn.If = slices.DeleteFunc(slices.Clone(txn.If), func(c registry.Condition) bool { return anyRevision(c) == anyRevision(breach.guard) })
					txn.Repeat = 0
					return txn
				})
				_ = a.do(t.Context(), g)
				require.NoError(t, g.store.errs[a.after], "%s: another guard refuses this, too", change)
				if breach.same == "" {
					require.NotEqual(t, decidedAgain, g.outcome(), "%s: nothing goes wrong without the guard", change)
				} else {
					require.Equal(t, decidedAgain, g.outcome(), change)
				}
			}
			for _, guard := range guards {
				if guard.Kind == registry.CondPresent {
					continue // an update implies it, and a deletion is a change to all who go by revisions
				}
				require.Contains(t, broken, anyRevision(guard), "a guard that nothing breaks")
			}
		})
	}
}

// anyRevision is the condition without what differs from world to world.
func anyRevision(c registry.Condition) registry.Condition {
	return registry.Condition{Kind: c.Kind, Path: c.Path}
}

// What was overtaken is decided again, and done or refused by what is there then. Either way nothing is half done:
// what is written down is what was done.
func TestWhatIsOvertakenIsDecidedAgain(t *testing.T) {
	t.Parallel()
	for name, a := range attempts() {
		for change, breach := range a.breaks {
			t.Run(name+"/"+change, func(t *testing.T) {
				t.Parallel()
				g := newGround(t)
				a.prepare(g)
				a.ahead(g, func(txn registry.Txn) registry.Txn { breach.change(g); return txn })
				err := a.do(t.Context(), g)
				var refused *operate.Refusal
				var calledOff *operate.UnconfirmedError
				require.True(t, err == nil || errors.As(err, &refused) || errors.As(err, &calledOff), err)
				done := g.store.errs[len(g.store.errs)-1] == nil && len(g.store.errs) > a.after
				require.Equal(t, err == nil, done)
			})
		}
	}
}

// No transaction of an operation is done twice by a copy that the store carries out much later.
func TestALateCopyOfAnOperationComesToNothing(t *testing.T) {
	t.Parallel()
	for name, a := range attempts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			a.prepare(g)
			a.ahead(g, func(txn registry.Txn) registry.Txn { return txn })
			require.NoError(t, a.do(t.Context(), g))
			before := g.all()
			_, err := g.registry.Commit(t.Context(), g.store.txns[a.after])
			if name == "create" {
				return // it is not repeated: see registry.Txn.Repeatable
			}
			require.ErrorIs(t, err, registry.ErrConflict)
			require.Equal(t, before, g.all())
		})
	}
}

func TestWhatMayBeRepeated(t *testing.T) {
	t.Parallel()
	for name, a := range attempts() {
		g := newGround(t)
		a.prepare(g)
		a.ahead(g, func(txn registry.Txn) registry.Txn { return txn })
		require.NoError(t, a.do(t.Context(), g))
		require.Equal(t, name != "create", g.store.txns[a.after].Repeatable(), name)
	}
}
