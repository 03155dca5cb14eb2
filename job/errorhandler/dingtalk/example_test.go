package dingtalk_test

import (
	"context"
	"log"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/dingtalk"
)

// A job whose failures are posted to a DingTalk group. What is secret is on the machine, and not in the configuration.
func Example() {
	handlers := errorhandler.Default()
	if err := handlers.Register(dingtalk.Name, dingtalk.New); err != nil {
		log.Fatal(err)
	}
	cfg := job.Config{
		Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4,
		ErrorHandler: dingtalk.Name,
		Props: map[string]string{
			"dingtalk.webhook": "env:DINGTALK_WEBHOOK", "dingtalk.secret": "env:DINGTALK_SECRET",
		},
	}
	// s, err := scheduler.New(reg, scheduler.WithErrorHandlers(handlers))
	// _, err = s.Add(ctx, cfg, index)
	_, _ = cfg, index
}

func index(context.Context, job.ShardingContext) error { return nil }
