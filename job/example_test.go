package job_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/job"
)

// A job that works on the orders of one city per sharding item.
func Example() {
	cfg := job.Config{
		Name:                   "orders",
		Cron:                   "0 0/5 * * * ?",
		ShardingTotalCount:     3,
		ShardingItemParameters: "0=Berlin,1=Oslo,2=Rome",
		Failover:               true,
		TimeZone:               "Europe/Berlin",
	}
	fmt.Println(cfg.Validate())

	index := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		_, err := fmt.Printf("item %d of %d: %s\n", sc.Item, sc.TotalCount, sc.ItemParameter)
		return err
	})
	// A scheduler calls it like this:
	_ = index(context.Background(), job.ShardingContext{Item: 1, TotalCount: 3, ItemParameter: "Oslo"})
	// Output:
	// <nil>
	// item 1 of 3: Oslo
}

func ExampleConfig_Validate() {
	cfg := job.Config{Name: "orders/eu", Cron: "0 0/5 * * * ?"}
	fmt.Println(cfg.Validate())
	// Output:
	// Name "orders/eu" must not contain "/"
	// ShardingTotalCount "0" must be between 1 and 100000
}

// A form that shows a fault beside its field.
func ExampleFieldError() {
	cfg := job.Config{Name: "orders", Cron: "0 61 * * * ?", ShardingTotalCount: 3}
	var fault *job.FieldError
	if errors.As(cfg.Validate(), &fault) {
		fmt.Println("field:", fault.Field)
		fmt.Println("value:", fault.Value)
		fmt.Println("rule: ", fault.Reason)
	}
	// Output:
	// field: Cron
	// value: 0 61 * * * ?
	// rule:  must be a cron expression
}

// A test that says when a job fires, on the night when the clocks of Berlin go back.
func ExampleConfig_Schedule() {
	cfg := job.Config{Name: "report", Cron: "0 30 2 * * ?", ShardingTotalCount: 1, TimeZone: "Europe/Berlin"}
	schedule, err := cfg.Schedule()
	if err != nil {
		fmt.Println(err)
		return
	}
	fire := time.Date(2026, time.October, 24, 0, 0, 0, 0, time.UTC)
	for range 3 {
		fire = schedule.Next(fire)
		fmt.Println(fire)
	}
	// Output:
	// 2026-10-24 02:30:00 +0200 CEST
	// 2026-10-25 02:30:00 +0200 CEST
	// 2026-10-26 02:30:00 +0100 CET
}

// What a deployment would change. A default that is spelt out is no change.
func ExampleConfig_Differences() {
	stored := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3}
	declared := stored
	declared.ShardingTotalCount = 6
	declared.FailoverLimit = job.DefaultFailoverLimit
	fmt.Println(stored.Differences(declared))
	// Output: [ShardingTotalCount]
}

// Before and after the items of a round on this instance: scheduler.WithListener takes the listener.
func ExampleListenerFuncs() {
	listener := job.ListenerFuncs{
		Before: func(_ context.Context, round job.Round) error {
			fmt.Println(round.JobName, "begins with", len(round.Items), "items")
			return nil
		},
		After: func(_ context.Context, _ job.Round, results []job.ItemResult) error {
			for _, r := range results {
				fmt.Println("item", r.Context.Item, r.Ended.Sub(r.Began), r.Err)
			}
			return nil
		},
	}
	// A scheduler calls it like this:
	began := time.Date(2026, time.January, 2, 3, 0, 0, 0, time.UTC)
	round := job.Round{JobName: "orders", Items: []job.ShardingContext{{Item: 0}, {Item: 2}}}
	_ = listener.BeforeRun(context.Background(), round)
	_ = listener.AfterRun(context.Background(), round, []job.ItemResult{
		{Context: round.Items[0], Began: began, Ended: began.Add(time.Second)},
		{Context: round.Items[1], Began: began, Ended: began.Add(2 * time.Second), Err: errors.New("out of stock")},
	})
	// Output:
	// orders begins with 2 items
	// item 0 1s <nil>
	// item 2 2s out of stock
}

// A report that one instance sends when all items of a round have ended, on whatever instances they ran:
// scheduler.WithWholeRoundListener takes the listener, in every process.
func ExampleWholeRoundListener() {
	listener := job.WholeRoundListener{
		AllCompleted: func(_ context.Context, round job.WholeRound) error {
			fmt.Printf("%s of %s: %d items, failed: %v\n", round.JobName, round.Fire.Format(time.DateOnly), len(round.Items), round.Failed)
			return nil
		},
		CompletedWithin: time.Hour,
	}
	fmt.Println(listener.Validate())
	// A scheduler calls it like this:
	_ = listener.AllCompleted(context.Background(), job.WholeRound{
		JobName: "orders", Fire: time.Date(2026, time.January, 2, 3, 0, 0, 0, time.UTC), Items: []int{0, 1, 2}, TotalCount: 3, Failed: []int{1},
	})
	// Output:
	// <nil>
	// orders of 2026-01-02: 3 items, failed: [1]
}

// A job of which no item makes sense without the others: one failure ends the round.
func ExampleErrorHandlerFunc() {
	handler := job.ErrorHandlerFunc(func(_ context.Context, name string, sc job.ShardingContext, err error) error {
		fmt.Println(name, "item", sc.Item, "failed:", err)
		return job.ErrFailRound // the other items of the round that run in this process are cancelled
	})
	_ = handler.HandleError(context.Background(), "orders", job.ShardingContext{Item: 2}, errors.New("out of stock"))
	// Output: orders item 2 failed: out of stock
}

// The parameters of items, as an application may check them before it declares a job.
func ExampleParseItemParameters() {
	fmt.Println(job.ParseItemParameters("0=Berlin, 1=Oslo"))
	fmt.Println(job.ParseItemParameters("0=Berlin, Oslo"))
	// Output:
	// map[0:Berlin 1:Oslo] <nil>
	// map[] " Oslo" is not of the form item=text with one "="
}

func ExampleShardingContext_JSON() {
	sc := job.ShardingContext{
		JobName: "orders", TaskID: "orders@-@0@-@READY@-@10.0.0.1@-@5",
		Item: 0, ItemParameter: "A", TotalCount: 3, JobParameter: "limit=5",
	}
	fmt.Println(sc.JSON())
	// Output:
	// {"jobName":"orders","taskId":"orders@-@0@-@READY@-@10.0.0.1@-@5","shardingTotalCount":3,"jobParameter":"limit\u003d5","shardingItem":0,"shardingParameter":"A"}
}
