package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

func newTrigger(p *program) *cobra.Command {
	var t operate.Trigger
	fire := ""
	cmd := &cobra.Command{
		Use:   "trigger [JOB]...",
		Short: "Run jobs now, or some of their items",
		Long: `Trigger runs a job once, whatever its cron says. It is one write, however many instances
share the job. An item that runs already runs once more right after. With --wait it lists what
became of each item, and the exit status is 4 if one has failed. It does not wait on, and the
status is 5, when somebody has disabled the job or all servers, or no instance has lived for a
minute: what has not begun still begins if that is over in time.`,
		Example: `  elasticron trigger orders --dry-run
  elasticron trigger orders --items 0 --parameter 'day=2026-03-01' --reason 'table was empty'
  elasticron trigger --match 'order*' --yes --replace`,
	}
	newJobsVerb(p, cmd, func(v *verb) (ofJob, error) {
		return func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			result, err := v.op.Trigger(ctx, job, t, opts)
			var refusal *operate.Refusal
			if errors.As(err, &refusal) && refusal.Replaceable {
				refusal.Do += " with --replace"
			}
			return result, err
		}, instantFlag("--fire", fire, &t.Fire)
	})
	flags := cmd.Flags()
	flags.Var(&itemsFlag{&t.Items}, "items", "items to run, such as 0,3 or 0-9 (default: all)")
	flags.StringVar(&t.Parameter, "parameter", "", "text for the code of the items")
	flags.StringVar(&fire, "fire", "", "fire that the runs stand for, such as 2026-03-01T02:30:00Z (default: none)")
	flags.DurationVar(&t.Within, "within", operate.DefaultTriggerWithin, "how long from now an item may begin")
	flags.BoolVar(&t.Replace, "replace", false, "take the place of a trigger that goes on")
	return cmd
}
