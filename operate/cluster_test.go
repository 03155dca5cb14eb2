package operate_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// working is the job in a cluster: four items that fire every five minutes, and take a second.
func working(c *clustertest.Cluster) {
	c.Job(job.Config{Name: theJob, Cron: "0 0/5 * * * ?", ShardingTotalCount: 4, Failover: true}, clustertest.Work(time.Second))
}

// start starts so many processes, lets time pass, and returns an operator.
func start(t *testing.T, c *clustertest.Cluster, processes int, d time.Duration) *operate.Operator {
	t.Helper()
	c.StartN(processes)
	c.Advance(d)
	op, err := operate.New(c.Operator(), operate.By("anna", "test"))
	require.NoError(t, err)
	return op
}

// aside does an operation while the test lets time pass.
func aside[T any](c *clustertest.Cluster, d time.Duration, do func() (T, error)) (result T, err error) {
	var done sync.WaitGroup
	done.Go(func() { result, err = do() })
	c.Advance(d)
	done.Wait()
	return result, err
}

func TestAClusterIsTriggered(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		var mu sync.Mutex
		parameters := map[int]string{}
		c.Job(job.Config{Name: theJob, Cron: "0 0 3 * * ?", ShardingTotalCount: 4}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			mu.Lock()
			parameters[sc.Item] = sc.TriggerParameter
			mu.Unlock()
			return clustertest.Sleep(ctx, time.Second)
		}))
		op := start(t, c, 3, time.Minute)
		r, err := aside(c, time.Minute, func() (operate.Result, error) {
			return op.Trigger(t.Context(), theJob, operate.Trigger{Items: []int{0, 3}, Parameter: "2026-11"}, waiting())
		})
		require.NoError(t, err)
		require.Equal(t, map[int]operate.TriggerState{0: operate.ItemSucceeded, 3: operate.ItemSucceeded}, statesOf(r.Progress))
		require.Equal(t, map[int]string{0: "2026-11", 3: "2026-11"}, parameters)
		for _, it := range r.Progress.Items {
			require.Equal(t, c.Owner(theJob, it.Item).ID(), it.Instance)
			require.Equal(t, time.Second, it.Took)
			require.Less(t, it.Began.Sub(r.When), 100*time.Millisecond)
		}
	})
}

// The instance that is to run an item dies after the trigger, before it has begun or in the middle.
func TestAnInstanceDiesBetweenATriggerAndItsEnd(t *testing.T) {
	t.Parallel()
	for name, dies := range map[string]time.Duration{"before it begins": 0, "in the middle": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
				working(c)
				op := start(t, c, 2, time.Minute)
				victim := c.Owner(theJob, 0)
				if dies == 0 {
					victim.Crash() // its session lasts, and it begins nothing
				}
				var r operate.Result
				var err error
				var done sync.WaitGroup
				done.Go(func() { r, err = op.Trigger(t.Context(), theJob, operate.Trigger{}, waiting()) })
				c.Advance(dies)
				if dies > 0 {
					victim.Crash()
				}
				c.Advance(time.Minute)
				done.Wait()
				require.NoError(t, err)
				require.Len(t, r.Progress.Items, 4)
				for _, it := range r.Progress.Items {
					require.Equal(t, operate.ItemSucceeded, it.State, "item %d ran on %s", it.Item, it.Instance)
					require.NotEqual(t, victim.ID(), it.Instance)
				}
			})
		})
	}
}

func TestAClusterIsBackfilled(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		var mu sync.Mutex
		var fires []time.Time
		c.Job(job.Config{Name: theJob, Cron: "0 0 3 * * ?", ShardingTotalCount: 2}, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
			mu.Lock()
			defer mu.Unlock()
			if sc.Item == 0 {
				require.Equal(t, job.Manual, sc.Source)
				fires = append(fires, sc.Fire)
			}
			return nil
		}))
		op := start(t, c, 2, time.Minute)
		wanted, err := op.Fires(t.Context(), theJob, clustertest.At(-72*time.Hour), clustertest.At(0))
		require.NoError(t, err)
		require.Len(t, wanted, 3)
		r, err := aside(c, time.Minute, func() (operate.BackfillResult, error) {
			return op.Backfill(t.Context(), theJob, wanted, operate.Trigger{}, silent())
		})
		require.NoError(t, err)
		require.Len(t, r.Done, 3)
		require.Equal(t, wanted, fires)
		record := jobtree.StateOf(theJob, snapshotOf(t, c)).Item(0).Record.Value
		require.True(t, record.LastFire.IsZero(), "the schedule is left alone")
	})
}

func snapshotOf(t *testing.T, c *clustertest.Cluster) registry.Snapshot {
	t.Helper()
	list, revision, err := c.Operator().List(t.Context(), registry.Root)
	require.NoError(t, err)
	return registry.NewSnapshot(revision, list)
}

func TestServersAndTotalsMoveItems(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		op := start(t, c, 2, time.Minute)
		instance := c.Owner(theJob, 0)
		ip := jobtree.ServerOf(instance.ID())
		plan, err := op.DisableServer(t.Context(), theJob, ip, operate.Options{DryRun: true})
		require.NoError(t, err)
		r, err := aside(c, time.Second, func() (operate.Result, error) {
			return op.DisableServer(t.Context(), theJob, ip, operate.Options{Wait: true, Shown: &plan.Plan})
		})
		require.NoError(t, err)
		require.Equal(t, 4, r.Progress.Ready)
		require.NotEmpty(t, plan.Moves)
		for _, m := range plan.Moves {
			require.Equal(t, m.To, c.Owner(theJob, m.Item).ID(), "as it was said")
		}
		_, err = aside(c, time.Second, func() (operate.Result, error) {
			return op.EnableServer(t.Context(), theJob, ip, waiting())
		})
		require.NoError(t, err)
		_, err = aside(c, time.Second, func() (operate.Result, error) {
			return op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.ShardingTotalCount = 7 }), waiting())
		})
		require.NoError(t, err)
		require.NotNil(t, c.Owner(theJob, 6))
		_, err = aside(c, time.Second, func() (operate.Result, error) { return op.Reshard(t.Context(), theJob, waiting()) })
		require.NoError(t, err)
		c.Advance(time.Hour)
	})
}

// What is operated while the cluster is in motion, in resharding, failover and drain, is done or refused, and no fire
// is lost or run twice for it.
func TestOperationsWhileTheClusterIsInMotion(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		op := start(t, c, 3, 10*time.Minute+500*time.Millisecond)
		c.Owner(theJob, 0).Crash() // it runs
		require.NoError(t, errOf(op.Reshard(t.Context(), theJob, silent())))
		require.NoError(t, errOf(op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description = "x" }), silent())))
		c.Advance(5 * time.Second)
		require.NoError(t, errOf(op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.Description = "y" }), silent())))
		c.Advance(time.Minute)
		leader := c.Leader(theJob)
		ip := jobtree.ServerOf(leader.ID())
		require.NoError(t, errOf(op.DisableServer(t.Context(), theJob, ip, silent())))
		leader.Crash()
		c.Advance(time.Minute)
		require.NoError(t, errOf(op.EnableServer(t.Context(), theJob, ip, silent())))
		c.Advance(30 * time.Minute)
		c.EveryFireRanOnce(theJob)
		require.Len(t, operationsOf(t, op), 5)
	})
}

func operationsOf(t *testing.T, op *operate.Operator) []operate.Operation {
	t.Helper()
	operations, err := op.Operations(t.Context(), theJob)
	require.NoError(t, err)
	return operations
}

func TestAClusterIsDisabledAndEnabled(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		op := start(t, c, 2, 5*time.Minute+500*time.Millisecond) // they run
		r, err := aside(c, time.Minute, func() (operate.Result, error) { return op.DisableJob(t.Context(), theJob, waiting()) })
		require.NoError(t, err)
		require.Equal(t, "nothing runs", r.Progress.Text)
		require.Contains(t, r.Notes[0], "items 0, 1, 2 and 3 run, and go on until they end by themselves")
		ran := len(c.Executions(theJob))
		c.Start("late")
		c.Advance(time.Hour)
		require.Len(t, c.Executions(theJob), ran, "nothing begins, wherever")
		_, err = op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())
		cause, _ := operate.IsRefused(err)
		require.Equal(t, operate.CauseNoInstance, cause)

		r, err = aside(c, time.Minute, func() (operate.Result, error) { return op.EnableJob(t.Context(), theJob, waiting()) })
		require.NoError(t, err)
		require.Equal(t, operate.Progress{Done: true, Ready: 4, Of: 4, Text: "items have an owner"}, r.Progress)
		c.Advance(10 * time.Minute)
		require.Greater(t, len(c.Executions(theJob)), ran)
		c.NoFireRanTwice(theJob)
	})
}

// A server is taken out of every job, and back in, and each job is waited for.
func TestAServerOfAClusterIsDisabledEverywhere(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		c.Job(job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 2}, clustertest.Work(time.Second))
		op := start(t, c, 2, time.Minute)
		ip := jobtree.ServerOf(c.Owner(theJob, 0).ID())
		results, err := aside(c, time.Minute, func() ([]operate.JobResult, error) {
			return op.DisableServerEverywhere(t.Context(), ip, waiting())
		})
		require.NoError(t, err)
		require.Len(t, results, 2)
		for _, r := range results {
			require.True(t, r.Result.Progress.Done)
			require.NotEqual(t, ip, jobtree.ServerOf(c.Owner(r.Job, 0).ID()))
			require.NotEqual(t, ip, jobtree.ServerOf(c.Owner(r.Job, 1).ID()))
		}
		_, err = aside(c, time.Minute, func() ([]operate.JobResult, error) {
			return op.EnableServerEverywhere(t.Context(), ip, waiting())
		})
		require.NoError(t, err)
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
	})
}

func TestAnInstanceOfAClusterIsShutDown(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		op := start(t, c, 2, 5*time.Minute+500*time.Millisecond) // it runs
		instance := c.Owner(theJob, 0)
		r, err := aside(c, time.Minute, func() (operate.Result, error) {
			return op.ShutDown(t.Context(), theJob, instance.ID(), waiting())
		})
		require.NoError(t, err)
		require.NotEmpty(t, r.Moves)
		for _, m := range r.Moves {
			require.Equal(t, m.To, c.Owner(theJob, m.Item).ID(), "as it was said")
		}
		c.Advance(time.Hour)
		require.NotEqual(t, instance.ID(), c.Owner(theJob, 0).ID())
		c.EveryFireRanOnce(theJob)
	})
}

// Nothing of a job that is removed while it runs comes back.
func TestAClusterIsRemoved(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		op := start(t, c, 2, 5*time.Minute+500*time.Millisecond) // they run
		_, err := aside(c, time.Minute, func() (operate.Result, error) { return op.Remove(t.Context(), theJob, forced()) })
		require.NoError(t, err)
		c.Advance(time.Hour)
		require.Zero(t, snapshotOf(t, c).Len())
		for _, e := range c.Executions(theJob) {
			require.Equal(t, clustertest.Outcome("ok"), e.Outcome, "what ran has ended, and nothing began since")
			require.Equal(t, clustertest.At(5*time.Minute), e.Fire)
		}
	})
}

// The leader dies while its job is being removed: what it ran is over with its session, and then the job is gone.
func TestALeaderDiesWhileItsJobIsRemoved(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		working(c)
		op := start(t, c, 3, 5*time.Minute+200*time.Millisecond) // they run
		leader := c.Leader(theJob)
		var err error
		var done sync.WaitGroup
		done.Go(func() { _, err = op.Remove(t.Context(), theJob, forced()) })
		c.Advance(300 * time.Millisecond)
		leader.Crash()
		c.Advance(time.Second)
		require.NotZero(t, snapshotOf(t, c).Len(), "what it ran may go on, as far as anybody knows")
		c.Advance(time.Minute)
		done.Wait()
		require.NoError(t, err)
		require.Zero(t, snapshotOf(t, c).Len())
		c.Advance(time.Hour)
		require.Zero(t, snapshotOf(t, c).Len(), "nothing comes back")
	})
}

// Operations while a process drains: what runs there ends there, what it is asked for runs elsewhere.
func TestOperationsWhileAProcessDrains(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(job.Config{Name: theJob, Cron: "0 0/5 * * * ?", ShardingTotalCount: 4, Failover: true}, clustertest.Work(10*time.Second))
		op := start(t, c, 2, 5*time.Minute+time.Second) // they run
		leaves := c.Owner(theJob, 0)
		id := leaves.ID()
		var r operate.Result
		var changed, asked, triggered error
		var done sync.WaitGroup
		done.Go(func() {
			time.Sleep(time.Second)
			changed = errOf(op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.ShardingTotalCount = 5 }), silent()))
			asked = errOf(op.Reshard(t.Context(), theJob, silent()))
			r, triggered = op.Trigger(t.Context(), theJob, operate.Trigger{}, waiting())
		})
		leaves.Stop() // which takes as long as what runs
		c.Advance(time.Minute)
		done.Wait()
		require.NoError(t, errors.Join(changed, asked, triggered))
		require.Len(t, r.Progress.Items, 5)
		for _, it := range r.Progress.Items {
			require.Equal(t, operate.ItemSucceeded, it.State, "item %d on %s", it.Item, it.Instance)
			require.NotEqual(t, id, it.Instance)
		}
		c.Advance(10 * time.Minute)
		c.NothingFailed(theJob)
		c.NoFireRanTwice(theJob)
	})
}

// Where tokens start is put right by the processes themselves: that is no change of the settings by somebody else, also
// if they start at nothing.
func TestTokensThatArePutBackAreNobodysChange(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]jobtree.Tokens{"nothing": {}, "a base": {Base: 1_000_000}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
				working(c)
				op := migrated(t, c, start)
				require.NoError(t, errOf(op.DisableItem(t.Context(), theJob, 1, silent())))
				_, err := c.Operator().Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(nodes.Tokens(), "}{")}})
				require.NoError(t, err)
				c.Advance(time.Minute)
				after := snapshotOf(t, c)
				require.Empty(t, operate.Outside(after))
				tokens, err := jobtree.DecodeTokens(after.Get(nodes.Tokens()))
				require.NoError(t, err, "it was put right")
				require.Equal(t, start, tokens)
			})
		})
	}
}

// migrated starts two processes of a job whose tokens start somewhere, as after a migration.
func migrated(t *testing.T, c *clustertest.Cluster, tokens jobtree.Tokens) *operate.Operator {
	t.Helper()
	op := start(t, c, 2, time.Minute)
	if tokens.Base == 0 {
		return op
	}
	config := snapshotOf(t, c).Get(nodes.Config())
	_, err := c.Operator().Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(nodes.Tokens(), jobtree.EncodeTokens(tokens)), registry.Put(config.Path, config.Value),
	}})
	require.NoError(t, err)
	c.Advance(time.Second)
	return op
}

// sometimesRefusing is code that makes nothing of one parameter.
type sometimesRefusing struct{}

func (sometimesRefusing) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.JobParameter == "unknown" {
		return nil, errors.New("no such report")
	}
	return func(ctx context.Context, _ job.ShardingContext) error { return clustertest.Sleep(ctx, time.Second) }, nil
}

func (sometimesRefusing) Check(job.Config) error { return nil }

// Of a job whose settings the code of every process refuses the last one keeps its items, and nothing runs: everybody sees that
// nobody leads.
func TestAJobThatEveryProcessRefuses(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(job.Config{Name: theJob, Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}, sometimesRefusing{})
		op := start(t, c, 2, 6*time.Minute)
		leaderless := func() bool {
			ns, err := operate.ReadNamespace(t.Context(), c.Operator(), time.Now())
			require.NoError(t, err)
			row, _ := ns.Job(theJob)
			return slices.ContainsFunc(row.Reasons, func(r operate.Reason) bool { return r.Word == operate.NoLeader })
		}
		set := func(parameter string) {
			require.NoError(t, errOf(op.ChangeSettings(t.Context(), theJob, change(func(c *job.Config) { c.JobParameter = parameter }), silent())))
			c.Advance(time.Second)
		}
		require.False(t, leaderless())
		set("unknown")
		require.True(t, leaderless())
		require.NoError(t, errOf(op.DisableJob(t.Context(), theJob, silent())))
		c.Advance(time.Minute)
		var enabled operate.Result
		for _, do := range []func(ctx context.Context) (operate.Result, error){
			func(ctx context.Context) (_ operate.Result, err error) {
				enabled, err = op.EnableJob(ctx, theJob, waiting())
				return enabled, err
			},
			func(ctx context.Context) (operate.Result, error) {
				return op.Trigger(ctx, theJob, operate.Trigger{}, waiting())
			},
			func(ctx context.Context) (operate.Result, error) { return op.Reshard(ctx, theJob, waiting()) },
			func(ctx context.Context) (operate.Result, error) {
				return op.ChangeSettings(ctx, theJob, change(func(c *job.Config) { c.ShardingTotalCount = 5 }), waiting())
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := aside(c, 2*time.Minute, func() (operate.Result, error) { return do(ctx) })
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "nobody leads the job")
		}
		require.False(t, enabled.Progress.Done)
		require.Equal(t, "items have an owner, but nobody leads the job: if it stays so, no process can use its settings, and their logs say why",
			enabled.Progress.Text)
		set("sales")
		require.False(t, leaderless())
		c.Advance(time.Minute)
		require.NotNil(t, c.Owner(theJob, 4))
	})
}
