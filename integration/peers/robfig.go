package main

import (
	"context"
	"time"

	"github.com/robfig/cron/v3"
)

// robfig runs each item as a job of its own, in this process alone: it asks no store, so several would each run all.
func robfig(ctx context.Context, a assignment, run runs, ready func()) error {
	c := cron.New(cron.WithSeconds(), cron.WithLocation(time.UTC))
	for n := range a.Work.Jobs {
		for item := range a.Work.Items {
			if _, err := c.AddFunc(a.Work.unixSeconds(), func() { run(n, item, time.Time{}) }); err != nil {
				return err
			}
		}
	}
	c.Start()
	ready()
	<-ctx.Done()
	<-c.Stop().Done()
	return nil
}
