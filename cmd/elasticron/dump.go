package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/dump"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

func newDump(p *program) *cobra.Command {
	var output format
	secrets := false
	cmd := &cobra.Command{
		Use:   "dump JOB",
		Short: "Show every node of a job, for reports of faults",
		Long: `Dump shows the nodes that a job has in the registry, in the format of Elastic-Job-Lite's dump:
a line for each, path and value. What may be secret is hidden: parameters, command lines,
settings with names such as password, errors and checkpoints.`,
		Example: `  elasticron dump orders
  elasticron dump orders -o json`,
		Args: cobra.ExactArgs(1),
	}
	conn := reading(p, cmd, func(cmd *cobra.Command, args []string, at place) error {
		job, from := bare("job", args[0]), registry.Reader(at)
		if secrets {
			from = stored(at)
		}
		nodes, revision, err := from.List(cmd.Context(), jobtree.For(job).Root())
		if err != nil {
			return err
		}
		if len(nodes) == 0 {
			return errNoJob(job)
		}
		d := scheduler.Dump{Job: job, Revision: int64(revision), ViewRevision: int64(revision)}
		for _, n := range nodes {
			if !secrets {
				n = jobtree.MaskNode(n)
			}
			d.Nodes = append(d.Nodes, scheduler.DumpNode{Path: n.Path, Value: n.Value, Seen: true, SeenValue: n.Value})
		}
		if output != formatTable {
			return output.write(cmd.OutOrStdout(), d)
		}
		_, err = io.WriteString(cmd.OutOrStdout(), dump.Text(d))
		return err
	})
	cmd.Flags().BoolVar(&secrets, "secrets", false, "show everything as it is stored")
	outputFlag(cmd.Flags(), &output, formatJSON, formatYAML)
	completes(cmd, conn, jobNames)
	return cmd
}
