package operate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry/memory"
)

// A job is created, an item of it disabled, and what was done read back.
func Example() {
	ctx := context.Background()
	reg := memory.NewServer().Open("shop") // in production: etcd.Open
	defer reg.Close(ctx)

	op, err := operate.New(reg, operate.By("anna", "runbook"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = op.Create(ctx, job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}, operate.Options{Reason: "new customer"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := op.DisableItem(ctx, "invoices", 3, operate.Options{Reason: "bad table"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Plan, result.Changes)

	operations, err := op.Operations(ctx, "invoices")
	for _, o := range operations {
		fmt.Println(o.Who, o.Reason, o)
	}
	fmt.Println(err)
	// Output:
	// disable item 3 of "invoices" [item 3 enabled -> disabled]
	// anna new customer create "invoices"
	// anna bad table disable item 3 of "invoices"
	// <nil>
}

// An operator looks at what a change of settings comes to, agrees, and is refused because somebody was faster.
func ExampleOperator_ChangeSettings() {
	ctx := context.Background()
	reg := memory.NewServer().Open("shop")
	defer reg.Close(ctx)
	anna, _ := operate.New(reg, operate.By("anna", ""))
	bert, _ := operate.New(reg, operate.By("bert", ""))
	_, _ = anna.Create(ctx, job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}, operate.Options{})

	hourly := operate.Settings{Change: func(c *job.Config) error { c.Cron = "@hourly"; return nil }}
	plan, _ := anna.ChangeSettings(ctx, "invoices", hourly, operate.Options{DryRun: true})
	fmt.Println(plan.Changes)

	daily := operate.Settings{Change: func(c *job.Config) error { c.Cron = "@daily"; return nil }}
	_, _ = bert.ChangeSettings(ctx, "invoices", daily, operate.Options{})

	_, err := anna.ChangeSettings(ctx, "invoices", hourly, operate.Options{Shown: &plan.Plan})
	var refused *operate.Refusal
	if errors.As(err, &refused) {
		fmt.Println(refused.Cause)
		for _, c := range refused.Changes {
			fmt.Println(c)
		}
	}
	// Output:
	// [cron "0 0/5 * * * ?" -> "@hourly"]
	// stale
	// no longer change cron "0 0/5 * * * ?" -> "@hourly"
	// now change cron "@daily" -> "@hourly"
}
