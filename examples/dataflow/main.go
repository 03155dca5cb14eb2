// Command dataflow streams numbers in batches and keeps a checkpoint. It stops in the middle of the
// stream, and another instance goes on from there. It takes a few seconds over an in-memory registry.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

const last = 12

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	server := memory.NewServer()
	// The first instance stops after five numbers: the stream ends between two batches.
	if err := instance(server, "first", 5); err != nil {
		return err
	}
	return instance(server, "second", last)
}

// instance takes part until it has processed a number.
func instance(server *memory.Server, name string, until int) error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := server.Open("example")
	s, err := scheduler.New(reg)
	if err != nil {
		return err
	}
	cfg := job.Config{
		Name:               "numbers",
		Cron:               "@every 1s",
		ShardingTotalCount: 1,
		Type:               job.TypeDataflow,
		StreamingProcess:   true,
	}
	if _, err := s.Add(ctx, cfg, numbers(name, until, stop)); err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), reg.Close(context.Background()))
}

// numbers is a dataflow that fetches the number behind its checkpoint.
func numbers(name string, until int, reached func()) job.Dataflow[int] {
	return job.Dataflow[int]{
		Fetch: func(_ context.Context, sc job.ShardingContext) ([]int, error) {
			done, err := strconv.Atoi(sc.Offset)
			if sc.Offset != "" && err != nil {
				return nil, err
			}
			if done >= last {
				return nil, nil
			}
			return []int{done + 1}, nil
		},
		Process: func(ctx context.Context, _ job.ShardingContext, batch []int) error {
			time.Sleep(50 * time.Millisecond)
			fmt.Printf("%s processed %d\n", name, batch[0])
			if batch[0] == until {
				reached()
			}
			return job.SetOffset(ctx, strconv.Itoa(batch[0]))
		},
	}
}
