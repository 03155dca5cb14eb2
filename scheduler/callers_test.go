package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// A call whose context nobody ends waits for a registry that is away no longer than Run goes on.
func TestCallsThatWaitForTheRegistryHearOfTheEndOfRun(t *testing.T) {
	t.Parallel()
	calls := map[string]struct {
		call func(*scheduler.Scheduler, *scheduler.Job, *scheduler.Request) error
		want error
	}{
		"Add": {func(s *scheduler.Scheduler, _ *scheduler.Job, _ *scheduler.Request) error {
			return errOf(s.Add(context.Background(), job.Config{Name: "mails", Cron: everyFive, ShardingTotalCount: 1}, nothing))
		}, scheduler.ErrStopped},
		"Update": {func(_ *scheduler.Scheduler, j *scheduler.Job, _ *scheduler.Request) error {
			return j.Update(context.Background(), func(cfg *job.Config) error { cfg.Description = "x"; return nil })
		}, scheduler.ErrUnknownJob},
		"Trigger": {func(_ *scheduler.Scheduler, j *scheduler.Job, _ *scheduler.Request) error {
			return errOf(j.Trigger(context.Background(), scheduler.TriggerReplacing()))
		}, scheduler.ErrUnknownJob},
		"Dump": {func(_ *scheduler.Scheduler, j *scheduler.Job, _ *scheduler.Request) error {
			return errOf(j.Dump(context.Background()))
		}, scheduler.ErrUnknownJob},
		"Wait": {func(_ *scheduler.Scheduler, _ *scheduler.Job, q *scheduler.Request) error {
			return errOf(q.Wait(context.Background()))
		}, scheduler.ErrUnknownJob},
		"Leave": {func(_ *scheduler.Scheduler, j *scheduler.Job, _ *scheduler.Request) error {
			return j.Leave(context.Background())
		}, scheduler.ErrStopped},
	}
	for name, test := range calls {
		for how, stop := range map[string]func(*instance){
			"stopped": func(i *instance) { i.cancel() }, "vanished": func(i *instance) { i.Vanish() },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := job.Config{Name: "orders", Cron: "@triggered", ShardingTotalCount: 1}
					i := c.launch("a", func(ctx context.Context, _ job.ShardingContext) error {
						<-ctx.Done()
						return context.Cause(ctx)
					}, cfg)
					<-i.Ready()
					j, err := i.Job("orders")
					require.NoError(t, err)
					request, err := j.Trigger(t.Context())
					require.NoError(t, err)
					time.Sleep(time.Second) // it runs
					i.registry.Cut()
					returned := make(chan error, 1)
					go func() { returned <- test.call(i.Scheduler, j, request) }()
					time.Sleep(time.Second)
					require.Empty(t, returned, "it waits")
					stop(i)
					ran := i.ended() // what Run says of it is not the matter here
					synctest.Wait()
					require.NotEmpty(t, returned, "Run has returned: %v", ran)
					err = <-returned
					require.ErrorIs(t, err, test.want)
					require.NotErrorIs(t, err, registry.ErrUnknownOutcome, "nothing was sent")
					if how == "vanished" && name != "Wait" {
						require.ErrorIs(t, err, scheduler.ErrVanished, "it says why")
					}
					i.registry.Heal()
				})
			})
		}
	}
}

// A change that was sent when Run ends may have been made or may be made later, which the error says beside the rest.
func TestACallWhoseChangeWasSentSaysThatItsOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		i := c.launch("a", nil, jobOf(1))
		<-i.Ready()
		time.Sleep(time.Second) // it leads, and has its item
		j, err := i.Job("orders")
		require.NoError(t, err)
		returned := make(chan error, 1)
		go func() {
			returned <- j.Update(context.Background(), func(cfg *job.Config) error {
				cfg.Description = "x"
				i.registry.LoseAnswers(1)
				time.AfterFunc(time.Millisecond, i.registry.Cut)
				return nil
			})
		}()
		time.Sleep(time.Second)
		require.Empty(t, returned, "it waits")
		i.cancel()
		require.NoError(t, i.ended())
		err = <-returned
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		i.registry.Heal()
	})
}

// Code that leaves its own job, and does not return, hears that the stop gave it up, and not that it has left.
func TestLeavingFromTheJobItselfHearsOfTheEndOfRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		mine, returned := make(chan *instance, 1), make(chan error, 1)
		i := c.startWith("a", func(ctx context.Context, _ job.ShardingContext) error {
			j, err := (<-mine).Job("orders")
			if err == nil {
				err = j.Leave(context.WithoutCancel(ctx))
			}
			returned <- err
			return nil
		}, []scheduler.Option{scheduler.WithStopTimeout(time.Second)}, jobOf(1))
		mine <- i
		sleepUntil(7 * time.Second)
		require.Empty(t, returned)
		i.cancel()
		require.ErrorContains(t, i.ended(), "given up")
		require.ErrorIs(t, <-returned, scheduler.ErrStopped)
	})
}

// Who adds a job and has no time for it has not added it, and hears that and nothing else.
func TestAddUnderAContextThatHasEnded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		i := c.start("a", nil, jobOf(1))
		mails := job.Config{Name: "mails", Cron: everyFive, ShardingTotalCount: 1}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.EqualError(t, errOf(i.Add(ctx, mails, nothing)), `declare job "mails": context canceled`)

		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := errOf(i.Add(ctx, mails, sluggish{}))
		require.EqualError(t, err, `declare job "mails": waiting for the job's code: context deadline exceeded`)
		require.ErrorIs(t, errOf(i.Job("mails")), scheduler.ErrUnknownJob)
		require.NoError(t, errOf(i.Add(t.Context(), mails, nothing)))
		time.Sleep(5 * time.Second) // the code comes back
	})
}

// sluggish is code that thinks about its configuration for five seconds.
type sluggish struct{}

func (sluggish) Configure(job.Config) (job.HandlerFunc, error) {
	time.Sleep(5 * time.Second)
	return nothing, nil
}
