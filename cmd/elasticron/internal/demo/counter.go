package demo

import (
	"context"
	"io/fs"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// counter is the job: it counts an item's share of the tree and writes the sum to the store.
type counter struct {
	tree fs.FS
	desk *desk
}

// count counts the share of one item.
func (c counter) count(ctx context.Context, sc job.ShardingContext) error {
	run := runOf(sc)
	if err := c.desk.write(report{Kind: reportStarted, Run: run}); err != nil {
		return err
	}
	sum, err := fileindex.Share(ctx, c.tree, sc.Item, sc.TotalCount)
	if err != nil {
		return err
	}
	run.Sum = sum
	return c.desk.put(ctx, run)
}

// observer tells the parent which runs the registry knows to be over: they must not run again.
type observer struct{ desk *desk }

// Observe implements [scheduler.Observer].
func (o observer) Observe(event scheduler.Event) {
	if e, is := event.(scheduler.ItemEvent); is && e.Over() && e.Err == nil && e.Refused == nil {
		_ = o.desk.write(report{Kind: reportRecorded, Run: runOf(e.Context)}) // without a parent, all ends anyway
	}
}

func runOf(sc job.ShardingContext) tally.Result {
	return tally.Result{Item: sc.Item, Total: sc.TotalCount, Fire: sc.Fire, Source: sc.Source, Token: sc.Token}
}
