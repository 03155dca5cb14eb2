package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

func newBackfill(p *program) *cobra.Command {
	var t operate.Trigger
	from, to := "", ""
	cmd := &cobra.Command{
		Use:   "backfill JOB --from TIME --to TIME",
		Short: "Run a job for fires that were not run",
		Long: `Backfill runs a job for each of its fires between two times, both included, one after the
other: the next one begins when every item has run for the one before. It stops at the first
that fails, or at Ctrl-C, and says how to go on: the same command with --id.`,
		Example: `  elasticron backfill orders --from 2025-03-01T02:00:00Z --to 2025-03-01T02:05:00Z --dry-run`,
		Args:    cobra.ExactArgs(1),
	}
	newVerb(p, cmd, func(v *verb, args []string) error {
		var first, last time.Time
		if from == "" || to == "" {
			return misuse("--from and --to are needed: want the times of the first and the last fire")
		}
		if err := instantFlag("--from", from, &first); err != nil {
			return err
		}
		if err := instantFlag("--to", to, &last); err != nil {
			return err
		}
		if first.After(last) {
			return misuse("--from is %s and --to is %s, want the earlier one first", from, to)
		}
		fires, err := v.op.Fires(v.ctx, args[0], first, last)
		if err != nil {
			return err
		}
		return v.backfill(args[0], fires, t)
	})
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "first fire, such as 2026-03-01T02:00:00Z (required)")
	flags.StringVar(&to, "to", "", "last fire (required)")
	flags.Var(&itemsFlag{&t.Items}, "items", "items to run, such as 0,3 or 0-9 (default: all)")
	flags.StringVar(&t.Parameter, "parameter", "", "text for the code of the items")
	return cmd
}

// backfill runs a job for fires, and says how to go on with what is left.
func (v *verb) backfill(job string, fires []time.Time, t operate.Trigger) error {
	if v.opts.DryRun {
		result, err := v.op.Backfill(v.ctx, job, fires, t, v.opts)
		if err != nil {
			return err
		}
		if v.output != formatTable {
			return v.output.write(v.out, result)
		}
		for _, fire := range fires {
			if _, err := fmt.Fprintln(v.out, instant(fire)); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(v.out, "%d fires. %s\n", len(fires), nothingDone)
		return err
	}
	if !v.yes {
		if err := v.ask(fmt.Sprintf("backfill %d fires of job %q\n", len(fires), job)); err != nil {
			return err
		}
	}
	opts, ran := v.opts, 0
	opts.Progress = func(p operate.Progress) {
		v.told.tell(fmt.Sprintf("%d of %d fires have run; %s", ran, len(fires), progressText(p)))
		if p.Done || p.Overtaken { // it ran before this call, and another trigger has come since
			ran++
		}
	}
	result, err := v.op.Backfill(v.ctx, job, fires, t, opts)
	v.told.end()
	if v.output != formatTable {
		if shown := v.output.write(v.out, result); shown != nil {
			return shown
		}
	} else if _, shown := fmt.Fprintf(v.out, "%d of %d fires have run.\n", len(fires)-len(result.Left), len(fires)); shown != nil {
		return shown
	}
	if err != nil && len(result.Left) > 0 && result.ID != "" {
		return fmt.Errorf("%w; go on with the same command and --id %s", err, operate.Options{ID: result.ID, Since: result.Since}.Key())
	}
	return err
}
