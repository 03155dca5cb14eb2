package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func newBackfill(p *program) *cobra.Command {
	var t operate.Trigger
	from, to := "", ""
	cmd := &cobra.Command{
		Use:   "backfill JOB --from TIME --to TIME",
		Short: "Run a job for fires that were not run",
		Long: `Backfill runs a job for each of its fires between two times, both included, one after the
other: the next one begins when every item has run for the one before. Items that are disabled
do not run: the dry run, the question and the last line name them. It stops at the first fire
that fails, or at Ctrl-C, and says how to go on: the same command with --id, which leaves out the
fires up to there, also the one that failed. A fire that has run already is run again: the dry
run and the question say of how many that may be so.

Several fires of a job with monitorExecution: false are refused, as nobody sees when one of them
has run, and the next would take its place: ask for them one by one, each when the one before has
run. A single fire is asked for, and the last line says that whether it ran cannot be seen.`,
		Example: `  elasticron backfill orders --from 2025-03-01T02:00:00Z --to 2025-03-01T02:05:00Z --dry-run`,
		Args:    cobra.ExactArgs(1),
	}
	newVerb(p, cmd, func(v *verb, args []string) error {
		job := bare("job", args[0])
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
		fires, err := v.op.Fires(v.ctx, job, first, last)
		if err != nil {
			return err
		}
		return v.backfill(job, fires, t)
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
	if len(fires) == 0 { // there is nothing to ask about, and nothing of which so and so many ran: it is refused
		_, err := v.op.Backfill(v.ctx, job, fires, t, v.opts)
		return err
	}
	var result operate.BackfillResult
	again := ""
	if v.opts.DryRun || !v.yes {
		dry := v.opts
		dry.DryRun = true
		var err error
		if result, err = v.op.Backfill(v.ctx, job, fires, t, dry); err != nil {
			return err
		}
		again = againText(result.MayHaveRun, len(fires))
		if asked := len(fires) - len(result.Left); asked > 0 {
			again += fmt.Sprintf("  %d of the %d fires were asked for before with this id, and are left out\n", asked, len(fires))
		}
		for _, warning := range result.Warnings {
			again += "  ! " + warning + "\n"
		}
	}
	if v.opts.DryRun {
		if v.output != formatTable {
			_, _ = io.WriteString(v.news, again)
			return v.output.write(v.out, result)
		}
		for _, fire := range result.Left {
			if _, err := fmt.Fprintln(v.out, instant(fire)); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(v.out, "%s%s. %s\n", again, fireCount(len(result.Left)), nothingDone)
		return err
	}
	if !v.yes {
		if err := v.ask(fmt.Sprintf("backfill %s of job %q\n%s", fireCount(len(fires)), job, again)); err != nil {
			return err
		}
	}
	opts, ran := v.opts, 0
	if !v.yes {
		opts.ShownRuns = &result.MayHaveRun
	}
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
	} else if _, shown := fmt.Fprintln(v.out, result.Summary()+"."); shown != nil {
		return shown
	}
	if err != nil && len(result.Left) > 0 && result.ID != "" && (len(result.Done) > 0 || !refusedForGood(err)) {
		var failed *operate.ItemsFailedError
		leaves := ""
		if errors.As(err, &failed) {
			leaves = ", which leaves out the fire that failed"
		}
		err = fmt.Errorf("%w; go on with the same command and --id %s%s", err, operate.Options{ID: result.ID, Since: result.Since}.Key(), leaves)
		if errors.Is(err, registry.ErrDenied) && len(result.Left) < len(fires) {
			return statusError{exitSome, err} // a right was taken away meanwhile
		}
		if v.ctx.Err() != nil && failed == nil {
			return statusError{exitWaited, err} // between two fires, of which none is unconfirmed
		}
	}
	return err
}

func fireCount(n int) string {
	if n == 1 {
		return "1 fire"
	}
	return fmt.Sprintf("%d fires", n)
}

// refusedForGood tells whether the same command would be refused again, whenever it is given.
func refusedForGood(err error) bool {
	switch cause, _ := operate.IsRefused(err); cause {
	case operate.CauseInvalid, operate.CauseUnknownJob, operate.CauseUnknownTarget, operate.CauseUsed, operate.CauseOvertaken:
		return true
	default:
		return false
	}
}

// againText warns of fires that may have run already. It is empty if there are none.
func againText(may operate.MayHaveRun, fires int) string {
	if may.Fires == 0 {
		return ""
	}
	return fmt.Sprintf("  ! %d of the %d fires may have run already, those up to %s: what has run is run again\n", may.Fires, fires, instant(may.Last))
}
