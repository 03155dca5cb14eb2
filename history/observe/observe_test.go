package observe_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/observe"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// notes is a bus that keeps what is posted.
type notes struct {
	mu     sync.Mutex
	events []history.Event
}

func (n *notes) Post(e history.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, e)
}

func TestARoundIsPosted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fire := time.Now().Add(5 * time.Second).UTC()
		var bus notes
		reg := memory.NewServer().Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID("10.0.0.1@-@7"), scheduler.WithObserver(observe.New(&bus)))
		require.NoError(t, err)
		_, err = s.Add(t.Context(), job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 2}, job.HandlerFunc(
			func(_ context.Context, sc job.ShardingContext) error {
				if sc.Item == 1 {
					time.Sleep(2 * time.Second)
					return errors.New("out of stock")
				}
				return nil
			}))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		require.NoError(t, s.Run(ctx))
		require.NoError(t, reg.Close(context.Background()))

		var executions []history.Execution
		var steps []history.Status
		for _, e := range bus.events {
			switch e := e.(type) {
			case history.Execution:
				executions = append(executions, e)
			case history.Status:
				steps = append(steps, e)
			}
		}
		round := steps[0].Round
		require.NotEmpty(t, round)
		hostname, err := os.Hostname()
		require.NoError(t, err)
		var want []history.Execution
		for item := range 2 {
			want = append(want, history.Execution{
				ID: executions[item].ID, Round: round, Job: "orders", TaskID: "orders@-@0,1@-@READY@-@10.0.0.1@-@7", Hostname: hostname,
				IP: "10.0.0.1", Source: job.Scheduled, Item: item, Fire: fire, Token: executions[item].Token, Start: fire,
			})
		}
		want = append(want, want[0].Ended(fire, nil, nil), want[1].Ended(fire.Add(2*time.Second), errors.New("out of stock"), nil))
		for i := range executions {
			executions[i].Start, executions[i].Complete = executions[i].Start.UTC(), executions[i].Complete.UTC()
			want[i].Complete = want[i].Complete.UTC()
		}
		require.Equal(t, want, executions)
		require.NotZero(t, executions[0].Token)
		require.NotEqual(t, executions[0].ID, executions[1].ID)

		var states []history.State
		for _, step := range steps {
			require.Equal(t, round, step.Round)
			require.Equal(t, "[0, 1]", step.ShardingItems)
			states = append(states, step.State)
		}
		require.Equal(t, []history.State{history.Staging, history.Running, history.Errored}, states)
		require.Equal(t, "{1=out of stock}", steps[2].Message)
		require.Equal(t, steps[2], bus.events[len(bus.events)-1], "the round ends last")
		require.True(t, slices.IsSortedFunc(steps, func(a, b history.Status) int { return a.Time.Compare(b.Time) }))
	})
}

// What was cut short, or made room, has no state of its own in the tables of Elastic-Job. Its cause says what it was.
func TestWhatWasInterruptedSaysSo(t *testing.T) {
	t.Parallel()
	taken := &registry.OpError{Op: registry.OpCommit, Path: "/orders", Err: &registry.ConflictError{Found: registry.Node{Value: "a long record"}}}
	for want, e := range map[string]scheduler.ItemEvent{
		"interrupted: made room, with work left": {Err: job.ErrYielded, CutShort: true},
		"out of stock":                           {Err: errors.New("out of stock")},
		"":                                       {},
		"interrupted: gone; its end was refused: session lost":                 {Err: errors.New("gone"), CutShort: true, Refused: registry.ErrSessionLost},
		"interrupted: gone; its end was refused: the item was taken away":      {Err: errors.New("gone"), CutShort: true, Refused: taken},
		"the end was refused: the item was taken away; the code failed: gone":  {Err: errors.New("gone"), Refused: taken},
		"the code succeeded, but the end was refused: the item was taken away": {CutShort: true, Refused: taken},
		"the code succeeded, but the end was refused: outcome unknown":         {Refused: registry.ErrUnknownOutcome},
	} {
		e.Round, e.Began, e.Ended = "r", time.Now(), time.Now()
		var bus notes
		observe.New(&bus).Observe(e)
		posted := bus.events[0].(history.Execution)
		require.Equal(t, want, posted.FailureCause)
		require.Equal(t, want == "", posted.Success)
	}
}
