// Command script runs a command line for each sharding item, and shows what happens when one fails
// and of one that does not end. It takes a few seconds over an in-memory registry, and needs a Unix
// shell.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// work does well for item 0, fails for item 1, and does not end for item 2.
const work = `sh -c '
	echo "item $ELASTICRON_ITEM of $ELASTICRON_TOTAL_COUNT works on $ELASTICRON_ITEM_PARAMETER"
	case $ELASTICRON_ITEM in
	1) echo "no such town"; exit 3;;
	2) sleep 600;;
	esac'`

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("example")
	s, err := scheduler.New(reg, scheduler.WithObserver(ends(3, stop)))
	if err != nil {
		return err
	}
	cfg := job.Config{
		Name:                   "towns",
		Cron:                   "@every 3s",
		ShardingTotalCount:     3,
		Type:                   job.TypeScript,
		ScriptCommandLine:      work,
		ShardingItemParameters: "0=Berlin,1=Nowhere,2=Oslo",
		Timeout:                time.Second,
	}
	code := script.Job{Grace: time.Second, Output: func(job.ShardingContext) io.Writer { return os.Stdout }}
	if _, err := s.Add(ctx, cfg, code); err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), reg.Close(context.Background()))
}

// ends returns an observer that prints how items ended, and stops when all have.
func ends(all int, stop func()) scheduler.Observer {
	return scheduler.ObserverFunc(func(event scheduler.Event) {
		e, is := event.(scheduler.ItemEvent)
		if !is || !e.Over() {
			return
		}
		fmt.Printf("item %d ended: %v\n", e.Context.Item, e.Err)
		if all--; all == 0 { // one call at a time
			stop()
		}
	})
}
