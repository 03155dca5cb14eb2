package email_test

import (
	"context"
	"log"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/email"
)

// A job whose failures are sent by mail. What is secret is on the machine, and not in the configuration.
func Example() {
	handlers := errorhandler.Default()
	if err := handlers.Register(email.Name, email.New); err != nil {
		log.Fatal(err)
	}
	cfg := job.Config{
		Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4,
		ErrorHandler: email.Name,
		Props: map[string]string{
			"email.host": "mail.example.org", "email.port": "465", "email.username": "cron", "email.password": "file:/run/secrets/smtp",
			"email.from": "cron@example.org", "email.to": "ops@example.org",
		},
	}
	// s, err := scheduler.New(reg, scheduler.WithErrorHandlers(handlers))
	// _, err = s.Add(ctx, cfg, index)
	_, _ = cfg, index
}

func index(context.Context, job.ShardingContext) error { return nil }
