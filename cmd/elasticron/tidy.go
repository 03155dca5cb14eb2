package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

func newTidy(p *program) *cobra.Command {
	var servers []string
	cmd := &cobra.Command{
		Use:   "tidy [JOB]...",
		Short: "Forget servers on which no instance lives",
		Long: `Tidy deletes what jobs store of servers on which none of their instances lives: of those that
--servers names, or else of all that are not disabled.`,
		Example: `  elasticron tidy nightly --servers 10.0.0.3`,
	}
	newJobsVerb(p, cmd, func(v *verb) (ofJob, error) {
		return func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			return v.op.TidyServers(ctx, job, servers, opts)
		}, nil
	})
	cmd.Flags().StringSliceVar(&servers, "servers", nil, "addresses, separated by commas (default: all that are not disabled)")
	return cmd
}
