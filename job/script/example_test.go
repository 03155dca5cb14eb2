package script_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
)

// A job that runs a command line for each item.
func Example() {
	cfg := job.Config{
		Name: "report", Cron: "0 0 6 * * ?", ShardingTotalCount: 2, ShardingItemParameters: "0=Berlin,1=Oslo",
		Type:              job.TypeScript,
		ScriptCommandLine: `sh -c 'echo "report of $ELASTICRON_ITEM_PARAMETER, item $ELASTICRON_ITEM"'`,
	}
	code := script.Job{Output: func(job.ShardingContext) io.Writer { return os.Stdout }}
	// A scheduler does the rest: s.Add(ctx, cfg, code).
	run, err := code.Configure(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run(context.Background(), job.ShardingContext{JobName: "report", Item: 1, TotalCount: 2, ItemParameter: "Oslo"}))
	// Output:
	// report of Oslo, item 1
	// <nil>
}

// A script fails by its exit code. The error has the end of its output.
func ExampleError() {
	cfg := job.Config{Type: job.TypeScript, ScriptCommandLine: `sh -c 'echo no such table; exit 3'`}
	run, err := script.Job{}.Configure(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	var failed *script.Error
	if errors.As(run(context.Background(), job.ShardingContext{}), &failed) {
		fmt.Println(failed.ExitCode, failed.Output)
	}
	// Output: 3 no such table
}

// The command line is split as a shell does it, and run without one.
func ExampleWords() {
	words, err := script.Words(`/opt/report.sh --mode "by region" a|b`)
	fmt.Printf("%q %v\n", words, err)
	// Output:
	// ["/opt/report.sh" "--mode" "by region" "a|b"] <nil>
}

// A command line that is none is found when the job is declared.
func ExampleJob_Configure() {
	cfg := job.Config{
		Name:               "report",
		Cron:               "0 0 6 * * ?",
		ShardingTotalCount: 2,
		Type:               job.TypeScript,
		ScriptCommandLine:  "/opt/report.sh 'by region",
	}
	_, err := script.Job{}.Configure(cfg)
	fmt.Println(err)
	// Output:
	// ScriptCommandLine "/opt/report.sh 'by region" must be a command line: invalid command line "/opt/report.sh 'by region": a quote or a backslash at its end is open
}
