package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

func newShutdown(p *program) *cobra.Command {
	job := ""
	cmd := &cobra.Command{
		Use:   "shutdown instance/ID",
		Short: "Have an instance leave its jobs, or one of them",
		Long: `Shutdown asks an instance to leave: it begins nothing more, its items move to others, and its
process goes on. What it runs goes on there until it ends by itself; --wait returns when it
has, but cannot see runs of jobs with monitorExecution off and those of Java. The instance
takes part again when the process starts anew; and when one that is cut off, whose session ended
before it learned of this, reaches the registry: look at the instances again then. It asks,
unless --yes is given.`,
		Example: `  elasticron shutdown instance/10.0.0.2@-@7-b --dry-run
  elasticron shutdown instance/10.0.0.2@-@7-b --job orders --yes`,
		Args: cobra.ExactArgs(1),
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		t, err := targetOf(args[0], "instance")
		if err != nil {
			return err
		}
		if job == "" {
			return v.inAllJobs(t.name, v.op.ShutDownEverywhere)
		}
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			return v.op.ShutDown(ctx, bare("job", job), t.name, opts)
		})
	})
	v.asks = true
	completes(cmd, v.conn, targetNames(listInstances()))
	cmd.Flags().StringVar(&job, "job", "", "only this job")
	return cmd
}
