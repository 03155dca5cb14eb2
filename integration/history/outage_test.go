package history_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/observe"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// itemsPerRound is how many items a round of the load has; one of them fails.
const itemsPerRound = 10

// flushTimeout bounds what is left to be done when the load is over.
const flushTimeout = 5 * time.Minute

func TestNothingIsLostAcrossAnOutage(t *testing.T) {
	t.Parallel()
	require.Less(t, *outage, *loadFor)
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			store, away, back := p.open(t)
			require.NoError(t, store.Prepare(t.Context()))
			bus, err := history.NewBus(history.WithSink(p.name, store), history.WithLogger(slog.New(slog.NewTextHandler(t.Output(), nil))))
			require.NoError(t, err)
			bus.Start()
			observer := observe.New(bus)
			over := make(chan error, 1)
			go func() {
				time.Sleep((*loadFor - *outage) / 2)
				err := away(t.Context())
				time.Sleep(*outage)
				over <- errors.Join(err, back(t.Context()))
			}()
			rounds, longest := 0, uint64(0)
			for began := time.Now(); time.Since(began) < *loadFor; time.Sleep(20 * time.Millisecond) {
				for due := int(time.Since(began).Minutes() * float64(*perMinute) / itemsPerRound); rounds < due; rounds++ {
					playRound(observer, rounds)
				}
				longest = max(longest, bus.Stats()[0].Waiting)
			}
			ended := time.Now()
			require.NoError(t, <-over)
			ctx, cancel := context.WithTimeout(t.Context(), flushTimeout)
			defer cancel()
			require.NoError(t, bus.Close(ctx))
			stats := bus.Stats()[0]
			require.Equal(t, stats.Posted, stats.Delivered, "%+v", stats)
			require.Equal(t, uint64(rounds*(2*itemsPerRound+3)), stats.Posted)
			t.Logf("%s: %d executions in %s, %d events waited at most, %d calls failed, all stored %s after the last",
				p.name, rounds*itemsPerRound, *loadFor, longest, stats.Failures, time.Since(ended).Round(time.Millisecond))
			requireAll(t, store, rounds)
		})
	}
}

// playRound reports a round as a scheduler does.
func playRound(to scheduler.Observer, number int) {
	now := time.Now()
	round := scheduler.RoundEvent{
		ID: "round-" + strconv.Itoa(number), Job: "orders", TaskID: "orders@-@0,1,2,3,4,5,6,7,8,9@-@READY@-@10.0.0.1@-@42", Began: now,
	}
	var items []scheduler.ItemEvent
	for n := range itemsPerRound {
		round.Items = append(round.Items, n)
		items = append(items, scheduler.ItemEvent{Round: round.ID, Began: now, Context: job.ShardingContext{
			JobName: "orders", TaskID: round.TaskID, Item: n, TotalCount: itemsPerRound, Fire: now, Source: job.Scheduled, Token: int64(number),
		}})
	}
	to.Observe(round)
	for _, item := range items {
		to.Observe(item)
	}
	round.Ended = now.Add(time.Millisecond)
	for _, item := range items {
		item.Ended = round.Ended
		if item.Context.Item == 0 {
			item.Err = errors.New("out of stock")
			round.Failed = map[int]error{0: item.Err}
		}
		to.Observe(item)
	}
	to.Observe(round)
}

// requireAll asks the store for every execution of so many rounds, and for their steps.
func requireAll(t *testing.T, store *sqlstore.Store, rounds int) {
	t.Helper()
	ctx := t.Context()
	for success, want := range map[bool]int{true: rounds * (itemsPerRound - 1), false: rounds} {
		page, err := store.Executions(ctx, history.ExecutionQuery{Success: &success, Paging: history.Paging{PerPage: history.MaxPerPage}})
		require.NoError(t, err)
		require.Equal(t, want, page.Total, "success %t", success)
		for _, e := range page.Rows {
			require.False(t, e.Running(), "%+v", e)
		}
	}
	last := itemsPerRound - 1
	for _, item := range []int{0, last} {
		page, err := store.Executions(ctx, history.ExecutionQuery{Item: &item})
		require.NoError(t, err)
		require.Equal(t, rounds, page.Total)
	}
	for _, state := range []history.State{history.Staging, history.Running, history.Errored} {
		page, err := store.Statuses(ctx, history.StatusQuery{State: state})
		require.NoError(t, err)
		require.Equal(t, rounds, page.Total, state)
	}
}
