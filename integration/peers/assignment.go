package main

import (
	"fmt"
	"time"
)

// assignment is what a process is told.
type assignment struct {
	Kind      string   // a key of kinds
	Stores    []string // where its store is
	Namespace string
	Work      work
}

// work is what every contender is to run.
type work struct {
	Jobs, Items int           // of each job
	Every       time.Duration // between two fires of a job, which are at its whole multiples; a divisor of a minute
	Lasts       time.Duration // how long an item runs
}

// jobName names a job for its number.
func jobName(n int) string { return fmt.Sprintf("job-%03d", n) }

// quartz is the schedule for who reads Quartz' dialect.
func (w work) quartz() string { return fmt.Sprintf("0/%d * * * * ?", w.Every/time.Second) }

// unixSeconds is the schedule for who reads crontab lines with seconds.
func (w work) unixSeconds() string { return fmt.Sprintf("*/%d * * * * *", w.Every/time.Second) }
