package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

// stateVerb is disable or enable, for jobs, items and servers.
func stateVerb(p *program, disable bool) *cobra.Command {
	word, done := "enable", "Enable takes disable back. Servers that were disabled one by one stay so when their job is enabled."
	if disable {
		word, done = "disable", `Disable has a job, an item or a server begin nothing any more. What runs ends by itself. A
disabled job stays so whatever its servers say, and over restarts of its processes. A server is
disabled in all its jobs, or in that of --job.`
	}
	match, job := "", ""
	cmd := &cobra.Command{
		Use:   word + " [job/NAME | item/JOB/NUMBER | server/IP]",
		Short: map[bool]string{true: "Stop jobs, items or servers until they are enabled", false: "Let jobs, items or servers run again"}[disable],
		Long:  done,
		Args:  cobra.MaximumNArgs(1),
	}
	if disable {
		cmd.Example = `  elasticron disable job/orders --reason 'table is locked'
  elasticron disable item/orders/1
  elasticron disable server/10.0.0.1 --job mail
  elasticron disable server/10.0.0.2 --dry-run
  elasticron disable --match 'mai*' --dry-run`
	} else {
		cmd.Example = `  elasticron enable item/mail/0
  elasticron enable server/10.0.0.1 --job nightly --dry-run
  elasticron disable job/orders
  elasticron enable job/orders`
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		if match != "" || len(args) == 0 {
			if job != "" {
				return misuse("--job is for a server: want server/IP")
			}
			return v.jobs(args, match, func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
				return v.setJob(ctx, job, disable, opts)
			})
		}
		t, err := targetOf(args[0], "job", "item", "server")
		switch {
		case err != nil:
			return err
		case job != "" && t.kind != "server":
			return misuse("--job is for a server: want server/IP")
		case t.kind == "server" && job == "":
			return v.everywhere(t.name, disable)
		}
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			switch {
			case t.kind == "job":
				return v.setJob(ctx, t.name, disable, opts)
			case t.kind == "item" && disable:
				return v.op.DisableItem(ctx, t.name, t.item, opts)
			case t.kind == "item":
				return v.op.EnableItem(ctx, t.name, t.item, opts)
			case disable:
				return v.op.DisableServer(ctx, job, t.name, opts)
			default:
				return v.op.EnableServer(ctx, job, t.name, opts)
			}
		})
	})
	completes(cmd, v.conn, targetNames("job", "item", "server"))
	cmd.Flags().StringVar(&job, "job", "", "of a server: only in this job")
	matchFlag(cmd, &match)
	return cmd
}

func (v *verb) setJob(ctx context.Context, job string, disable bool, opts operate.Options) (operate.Result, error) {
	if disable {
		return v.op.DisableJob(ctx, job, opts)
	}
	return v.op.EnableJob(ctx, job, opts)
}

// everywhere sets a server in all its jobs. It asks before, as a list says how many.
func (v *verb) everywhere(ip string, disable bool) error {
	do := v.op.EnableServerEverywhere
	if disable {
		do = v.op.DisableServerEverywhere
	}
	return v.inAllJobs(ip, do)
}
