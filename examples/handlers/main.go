// Command handlers shows jobs as data: the program declares no job. It has code for a class, and takes
// part in whatever jobs of that class the registry has: those of a file, and one that is written, changed
// and removed while it runs. It runs for some seconds over an in-memory registry and ends.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/seed"
)

//go:embed jobs.yaml
var jobs []byte

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := context.WithTimeout(context.Background(), 6*time.Second)
	defer stop()
	reg := memory.NewServer().Open("example")
	file, err := seed.ParseYAML(jobs)
	if err != nil {
		return err
	}
	if _, err := seed.Run(ctx, reg, file, seed.Options{}); err != nil {
		return err
	}
	greet := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		fmt.Printf("%s greets %s\n", sc.JobName, sc.JobParameter)
		return nil
	})
	s, err := scheduler.New(reg, scheduler.WithHandler("greeting", greet))
	if err != nil {
		return err
	}
	operator := make(chan error, 1)
	go func() { operator <- operate(context.WithoutCancel(ctx), reg) }() // it comes to its end, however slow the machine is
	return errors.Join(s.Run(ctx), <-operator, reg.Close(context.Background()))
}

// operate does what an operator, or any other program, does to jobs while they run.
func operate(ctx context.Context, reg registry.Committer) error {
	evening := job.Config{
		Name:               "evening",
		Cron:               "@every 500ms",
		ShardingTotalCount: 1,
		Class:              "greeting",
	}
	tree := jobtree.For(evening.Name)
	for _, parameter := range []string{"the moon", "the stars"} {
		evening.JobParameter = parameter
		text, err := jobtree.EncodeConfig(evening)
		if err != nil {
			return err
		}
		if _, err := reg.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put(tree.Config(), text)}}); err != nil {
			return err
		}
		time.Sleep(1500 * time.Millisecond)
	}
	_, err := reg.Commit(ctx, registry.Txn{Then: []registry.Write{registry.DeleteTree(tree.Root())}})
	return err
}
