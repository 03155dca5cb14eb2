package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

func newDisable(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "disable " + switchUse,
		Short: "Stop jobs, items or servers until they are enabled",
		Long: `Disable has a job, an item or a server begin nothing any more. What runs ends by itself. A
disabled job stays so whatever its servers say, and over restarts of its processes. A server is
disabled in all the jobs that it is in, or in that of --job; in a job that is created later it
is not: shut its instances down, or stop the process.`,
		Example: `  elasticron disable job/orders --reason 'table is locked'
  elasticron disable item/orders/1
  elasticron disable server/10.0.0.1 --job mail
  elasticron disable server/10.0.0.2 --dry-run
  elasticron disable --match 'mai*' --dry-run`,
	}
	switchVerb(p, cmd, func(op operations) switches {
		return switches{job: op.DisableJob, item: op.DisableItem, server: op.DisableServer, everywhere: op.DisableServerEverywhere}
	})
	return cmd
}

func newEnable(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "enable " + switchUse,
		Short: "Let jobs, items or servers run again",
		Long:  "Enable takes disable back. Servers that were disabled one by one stay so when their job is enabled.",
		Example: `  elasticron enable item/mail/0
  elasticron enable server/10.0.0.1 --job nightly --dry-run
  elasticron disable job/orders
  elasticron enable job/orders`,
	}
	switchVerb(p, cmd, func(op operations) switches {
		return switches{job: op.EnableJob, item: op.EnableItem, server: op.EnableServer, everywhere: op.EnableServerEverywhere}
	})
	return cmd
}

// switches are the operations that disable a job, an item or a server, or those that enable it.
type switches struct {
	job        ofJob
	item       func(ctx context.Context, job string, item int, opts operate.Options) (operate.Result, error)
	server     func(ctx context.Context, job, ip string, opts operate.Options) (operate.Result, error)
	everywhere func(ctx context.Context, ip string, opts operate.Options) ([]operate.JobResult, error)
}

const switchUse = "[job/NAME | item/JOB/NUMBER | server/IP]"

// switchVerb gives a command what disable and enable have in common: their flags, and what they do to what is named.
func switchVerb(p *program, cmd *cobra.Command, of func(op operations) switches) {
	match, job := "", ""
	cmd.Args = cobra.MaximumNArgs(1)
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		do := of(v.op)
		if match != "" || len(args) == 0 {
			if job != "" {
				return misuse("--job is for a server: want server/IP")
			}
			return v.jobs(args, match, do.job)
		}
		t, err := targetOf(args[0], "job", "item", "server")
		switch {
		case err != nil:
			return err
		case job != "" && t.kind != "server":
			return misuse("--job is for a server: want server/IP")
		case t.kind == "server" && job == "":
			return v.inAllJobs(t.name, do.everywhere) // which asks before, as a list says how many
		}
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			switch t.kind {
			case "job":
				return do.job(ctx, t.name, opts)
			case "item":
				return do.item(ctx, t.name, t.item, opts)
			default:
				return do.server(ctx, bare("job", job), t.name, opts)
			}
		})
	})
	completes(cmd, v.conn, targetNames(listJobs(), listItems(), listServers()))
	cmd.Flags().StringVar(&job, "job", "", "of a server: only in this job")
	matchFlag(cmd, &match)
}
