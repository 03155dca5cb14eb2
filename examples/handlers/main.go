// Command handlers shows jobs as data: the program declares no job. It has code for a class, and takes
// part in whatever jobs of that class the registry has: one of a file, and those of a table that changes
// while it runs. It runs for some seconds over an in-memory registry and ends.
//
// To have the jobs of a table of yours, copy the function reconcile.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/seed"
)

//go:embed jobs.yaml
var jobs []byte

const (
	class = "greeting" // of which this program has the code
	ours  = "table-"   // begins the names of the jobs that the table decides about; others stay as they are
)

// row is what the table says of a job.
type row struct {
	cron, parameter string
	items           int
}

// table has the rows by the names of their jobs. Yours may be one of a database.
type table map[string]row

// patience is how long a job may take until nothing of it runs and it is gone. Then the next call goes on with it.
const patience = 10 * time.Second

// reconcile makes the jobs of the registry those of the table. Call it when the table has changed, and every minute
// or so: what failed, or was left when the program died, is done by the next call, and where nothing differs nothing
// is written. If two programs call it at the same time, each change is made by one of them.
func reconcile(ctx context.Context, reg registry.Reader, op *operate.Operator, wanted table) error {
	stored, err := operate.ReadNamespace(ctx, reg, time.Now())
	if err != nil {
		return err
	}
	var errs []error
	for _, j := range stored.Jobs() {
		_, stays := wanted[j.Job]
		// An earlier call may not have come to the end of a removal. Then the job goes, even if a row has come back.
		begun := slices.ContainsFunc(j.Reasons, func(r operate.Reason) bool { return r.Word == operate.Removing })
		if strings.HasPrefix(j.Job, ours) && (!stays || begun) {
			errs = append(errs, remove(ctx, op, j.Job))
		}
	}
	for name, r := range wanted {
		if !strings.HasPrefix(name, ours) {
			errs = append(errs, fmt.Errorf("the table has a job %q: the names of its jobs must begin with %q, as others are not its own", name, ours))
			continue
		}
		errs = append(errs, put(ctx, op, name, r))
	}
	return errors.Join(errs...)
}

// put creates a job, or gives it the settings of its row. Whether it is disabled stays, as an operator has that in hand.
func put(ctx context.Context, op *operate.Operator, name string, r row) error {
	set := func(c *job.Config) error {
		c.Cron, c.JobParameter, c.ShardingTotalCount = r.cron, r.parameter, r.items
		return nil
	}
	cfg := job.Config{Name: name, Class: class}
	if err := set(&cfg); err != nil {
		return err
	}
	options := operate.Options{Reason: "the table says so", Force: true} // as fewer items want consent
	_, err := op.Create(ctx, cfg, options)
	switch cause, _ := operate.IsRefused(err); cause {
	case operate.CauseExists:
		_, err = op.ChangeSettings(ctx, name, operate.Settings{Change: set}, options)
		return unless(operate.CauseAlready, err)
	case operate.CausePending: // all but the end of a removal is done: go on with that, and create the job with the next call
		return errors.Join(err, remove(ctx, op, name))
	}
	return err
}

// remove deletes a job when nothing of it runs any more.
func remove(ctx context.Context, op *operate.Operator, name string) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	// Instances live as long as there is the job, and leave it: they want consent, too.
	_, err := op.Remove(ctx, name, operate.Options{Reason: "the table has no such job", Force: true})
	return unless(operate.CauseUnknownJob, err) // another program was faster
}

// unless returns err, but nil if the operation was refused for this cause.
func unless(cause operate.Cause, err error) error {
	if is, refused := operate.IsRefused(err); refused && is == cause {
		return nil
	}
	return err
}

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
	s, err := scheduler.New(reg, scheduler.WithHandler(class, greet))
	if err != nil {
		return err
	}
	op, err := operate.New(reg, operate.By("table", "examples/handlers"))
	if err != nil {
		return err
	}
	changes := make(chan error, 1)
	go func() { changes <- follow(context.WithoutCancel(ctx), reg, op) }() // it comes to its end, however slow the machine is
	return errors.Join(s.Run(ctx), <-changes, reg.Close(context.Background()))
}

// follow has the registry follow the table, which changes twice and becomes empty.
func follow(ctx context.Context, reg registry.Reader, op *operate.Operator) error {
	for _, now := range []table{
		{"table-evening": {cron: "@every 500ms", parameter: "the moon", items: 1}},
		{"table-evening": {cron: "@every 500ms", parameter: "the stars", items: 1}, "table-noon": {cron: "@every 1s", parameter: "the clouds", items: 1}},
		{},
	} {
		if err := reconcile(ctx, reg, op, now); err != nil {
			return err
		}
		time.Sleep(1500 * time.Millisecond)
	}
	return nil
}
