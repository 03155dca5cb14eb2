package main

import (
	"github.com/spf13/cobra"
)

func newReshard(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "reshard [JOB]...",
		Short:   "Ask the leader of a job to assign its items anew",
		Example: `  elasticron reshard orders`,
	}
	newJobsVerb(p, cmd, func(v *verb) (ofJob, error) { return v.op.Reshard, nil })
	return cmd
}
