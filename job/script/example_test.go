package script_test

import (
	"fmt"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
)

// A command line is split as a shell does it, and run without one.
func ExampleWords() {
	words, err := script.Words(`/opt/report.sh --mode "by region" a|b`)
	fmt.Printf("%q %v\n", words, err)
	// Output:
	// ["/opt/report.sh" "--mode" "by region" "a|b"] <nil>
}

func ExampleJob() {
	cfg := job.Config{
		Name:               "report",
		Cron:               "0 0 6 * * ?",
		ShardingTotalCount: 2,
		Type:               job.TypeScript,
		ScriptCommandLine:  "/opt/report.sh 'by region",
	}
	// A scheduler asks this when the job is declared: scheduler.Add(ctx, cfg, script.Job{}).
	_, err := script.Job{}.Configure(cfg)
	fmt.Println(err)
	// Output:
	// ScriptCommandLine "/opt/report.sh 'by region" must be a command line: invalid command line "/opt/report.sh 'by region": a quote or a backslash at its end is open
}
