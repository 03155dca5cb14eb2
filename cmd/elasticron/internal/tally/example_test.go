package tally_test

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

// Two items; b loses item 1 in the middle of the first round, and a runs it again.
func ExampleJudge() {
	one := fileindex.Sum{Files: 1}
	judge := tally.NewJudge(fileindex.Truth{Whole: one.Plus(one), Shares: []fileindex.Sum{one, one}}, time.Second)
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	judge.Start(start)
	run := tally.Result{Total: 2, Fire: start.Add(time.Second), Source: job.Scheduled, Token: 7, Instance: "a", Sum: one}
	_ = judge.Accept(run)
	fmt.Println("settled:", len(judge.Settled()))

	run.Item, run.Source, run.Token = 1, job.Failover, 9
	_ = judge.Accept(run)
	late := run
	late.Source, late.Token, late.Instance = job.Scheduled, 8, "b"
	fmt.Println("late:", judge.Accept(late))
	fmt.Println("settled:", len(judge.Settled()), "faults:", len(judge.Faults()))
	// Output:
	// settled: 0
	// late: stale token 8 for item 1: token 9 wrote before
	// settled: 1 faults: 0
}
