package checker_test

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
)

// Code was called with a token that the registry never gave.
func ExampleJudge() {
	noon := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	h := checker.History{
		Job: "orders",
		Runs: []checker.Run{{
			Instance: "10.0.0.1@-@a", Began: noon, Ended: noon.Add(time.Second),
			Context: job.ShardingContext{JobName: "orders", Item: 3, Fire: noon, Source: job.Scheduled, Token: 7},
		}},
		End: noon.Add(time.Minute),
	}
	for _, finding := range checker.Judge(h, checker.DefaultRules()) {
		fmt.Printf("%s: %s\n", finding.Guarantee, finding.Text)
	}
	// Output: growing token: code was given a token that no begin ever had
}
