package wechat_test

import (
	"context"
	"log"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/wechat"
)

// A job whose failures are posted to a WeCom group. What is secret is on the machine, and not in the configuration.
func Example() {
	handlers := errorhandler.Default()
	if err := handlers.Register(wechat.Name, wechat.New); err != nil {
		log.Fatal(err)
	}
	cfg := job.Config{
		Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4,
		ErrorHandler: wechat.Name,
		Props: map[string]string{
			"wechat.webhook": "env:WECHAT_WEBHOOK",
		},
	}
	// s, err := scheduler.New(reg, scheduler.WithErrorHandlers(handlers))
	// _, err = s.Add(ctx, cfg, index)
	_, _ = cfg, index
}

func index(context.Context, job.ShardingContext) error { return nil }
