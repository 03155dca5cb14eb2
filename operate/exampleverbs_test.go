package operate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry/memory"
)

// withInvoices makes an operator of a namespace in which one job is stored. Nobody runs it.
func withInvoices(ctx context.Context) (op *operate.Operator, reg *memory.Registry) {
	reg = memory.NewServer().Open("shop") // in production: etcd.Open
	op, err := operate.New(reg, operate.By("anna", "runbook"))
	if err != nil {
		panic(err)
	}
	cfg := job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}
	if _, err := op.Create(ctx, cfg, operate.Options{Reason: "new customer"}); err != nil {
		panic(err)
	}
	return op, reg
}

// Two items are to run once, by hand. That is refused here, as no process runs the job; a dry run is refused likewise.
func ExampleOperator_Trigger() {
	ctx := context.Background()
	op, reg := withInvoices(ctx)
	defer reg.Close(ctx)

	again := operate.Trigger{Items: []int{0, 3}, Parameter: "november", Within: 10 * time.Minute}
	_, err := op.Trigger(ctx, "invoices", again, operate.Options{DryRun: true})
	fmt.Println(err)
	// Output:
	// trigger items 0,3 of "invoices" refused: no instance of the job lives; start a process that runs the job
}

// A job is disabled, and enabled again.
func ExampleOperator_DisableJob() {
	ctx := context.Background()
	op, reg := withInvoices(ctx)
	defer reg.Close(ctx)

	for _, verb := range []func(context.Context, string, operate.Options) (operate.Result, error){op.DisableJob, op.EnableJob} {
		result, err := verb(ctx, "invoices", operate.Options{Reason: "maintenance"})
		fmt.Println(result.Plan, err)
	}
	// Output:
	// disable job "invoices" <nil>
	// enable job "invoices" <nil>
}

// A change of settings is taken back.
func ExampleOperator_RollBack() {
	ctx := context.Background()
	op, reg := withInvoices(ctx)
	defer reg.Close(ctx)

	hourly := operate.Settings{Change: func(c *job.Config) error { c.Cron = "@hourly"; return nil }}
	changed, err := op.ChangeSettings(ctx, "invoices", hourly, operate.Options{ID: "hourly"})
	fmt.Println(changed.Changes, err)
	back, err := op.RollBack(ctx, "invoices", "hourly", operate.Options{})
	fmt.Println(back.Changes, err)
	// Output:
	// [cron "0 0/5 * * * ?" -> "@hourly"] <nil>
	// [cron "@hourly" -> "0 0/5 * * * ?"] <nil>
}

// One read shows every job and its items. Nobody runs this one.
func ExampleReadNamespace() {
	ctx := context.Background()
	op, reg := withInvoices(ctx)
	defer reg.Close(ctx)
	if _, err := op.DisableItem(ctx, "invoices", 3, operate.Options{Reason: "bad table"}); err != nil {
		fmt.Println(err)
	}

	now := time.Date(2026, time.November, 2, 8, 1, 0, 0, time.UTC)
	shop, err := operate.ReadNamespace(ctx, reg, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range shop.Jobs() {
		fmt.Println(row.Job, row.Status, row.Items, row.DisabledItems)
		for _, item := range shop.Items(row.Job) {
			fmt.Println(item.Item, item.Status)
		}
	}
	// Output:
	// invoices CRASHED 4 1
	// 0 SHARDING_FLAG
	// 1 SHARDING_FLAG
	// 2 SHARDING_FLAG
	// 3 DISABLED
}
