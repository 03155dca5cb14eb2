package job_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// A dataflow fetches what comes behind its checkpoint, and moves that when it has processed it.
func ExampleDataflow() {
	words := strings.Fields("one two three")
	flow := job.Dataflow[string]{
		Fetch: func(_ context.Context, sc job.ShardingContext) ([]string, error) {
			return words[len(strings.Fields(sc.Offset)):], nil
		},
		Process: func(ctx context.Context, sc job.ShardingContext, batch []string) error {
			fmt.Println("processed", batch)
			return job.SetOffset(ctx, strings.TrimSpace(sc.Offset+" "+strings.Join(batch, " ")))
		},
	}
	cfg := job.Config{
		Name:               "words",
		Cron:               "0 0/5 * * * ?",
		ShardingTotalCount: 1,
		Type:               job.TypeDataflow,
		StreamingProcess:   true,
	}
	run, err := flow.Configure(cfg)
	fmt.Println(cfg.Validate(), err)
	// A scheduler runs it like this, with a checkpoint that the registry keeps:
	ctx := job.WithProgress(context.Background(), &desk{offset: "one"})
	fmt.Println(run(ctx, job.ShardingContext{Streaming: true}))
	// Output:
	// <nil> <nil>
	// processed [two three]
	// <nil>
}
