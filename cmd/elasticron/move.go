package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/federation/home"
)

func newMove(p *program) *cobra.Command {
	var opts home.MoveOptions
	var target string
	var timeout time.Duration
	var output format
	cmd := &cobra.Command{
		Use:   "move JOB --to REGISTRY",
		Short: "Move a job to another registry of a context that has several",
		Long: `Move takes a job from its registry to another one: it stops the job, waits until nothing of it
runs, and copies it with its records, missed fires, checkpoints and marks. Fires that come
meanwhile are made up as the job's misfire policy says, and fencing tokens go on above those
granted so far. Processes follow by themselves.

If it is interrupted, or does not get to the end, the same command goes on. While the job is only
stopped, elasticron enable calls the move off, and fires that came meanwhile are not made up; once
it is closed, it can only be completed. A job of a name that was removed is created in that
registry from then on.

If a registry was restored from a backup while a job was being moved to it, the job may be nowhere,
though its former home keeps all of it. Move says so, deletes nothing, and copies it again with
--again.

It needs a context with several registries: see elasticron context set --help. Whoever calls it must
be allowed to write there, also with --dry-run, which asks for that and changes nothing. Files of
workers do not move: bring that of the job to the workers of the new registry afterwards, and never
before, as then both registries run the job. The exit status is 3 if the move was refused or called
off, and 5 if --timeout was over before.`,
		Example: `  elasticron move orders --to two --dry-run --context all
  elasticron move orders --to two --reason 'one is full' --context all`,
		Args: cobra.ExactArgs(1),
	}
	conn := newRegistryConnection(p, cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&target, "to", "", "name of the registry in the context (required)")
	flags.BoolVar(&opts.DryRun, "dry-run", false, "only tell what would be done")
	flags.BoolVar(&opts.Again, "again", false, "copy it once more, if it has left for there and is nowhere, as after a restore")
	flags.StringVar(&opts.Reason, "reason", "", "why, for whoever reads it later")
	flags.DurationVar(&timeout, "timeout", 0, "how long to wait for what runs to end, such as 5m (default: for ever)")
	outputFlag(flags, &output, formatJSON, formatYAML)
	completes(cmd, conn, jobNames)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case target == "":
			return misuse("--to is missing: want the name of a registry")
		case timeout < 0:
			return misuse("--timeout is %s, want a time such as 5m", timeout)
		}
		ctx, restore := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer restore()
		return conn.with(ctx, func(at place) error {
			all, is := at.(*registries)
			if !is {
				return misuse("the context has one registry: want one with several, see elasticron context set --help")
			}
			opts.Who, opts.How = p.who(conn.etcd.User()), agent()
			news := cmd.ErrOrStderr()
			opts.Progress = func(step string) { _, _ = fmt.Fprintln(news, step) } // nobody can be told that nobody listens
			bounded := ctx
			if timeout > 0 {
				var stop context.CancelFunc
				bounded, stop = context.WithTimeout(ctx, timeout)
				defer stop()
			}
			moved, err := all.homes.Move(bounded, bare("job", args[0]), target, opts)
			if err == nil {
				err = showMoved(cmd.OutOrStdout(), output, opts.DryRun, moved)
			}
			return moveJudged(err)
		})
	}
	return cmd
}

func showMoved(out io.Writer, output format, dry bool, moved home.Moved) error {
	if output != "" {
		return output.write(out, moved)
	}
	text := fmt.Sprintf("%s is in %s\n", moved.Job, moved.To)
	switch {
	case dry && !moved.Done:
		text = fmt.Sprintf("%s would be moved from %s to %s\n", moved.Job, moved.From, moved.To)
	case moved.From != "":
		text = fmt.Sprintf("%s has moved from %s to %s\n", moved.Job, moved.From, moved.To)
	}
	for _, note := range moved.Notes {
		text += "note: " + note + "\n"
	}
	_, err := io.WriteString(out, printableLines(text))
	return err
}

func moveJudged(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, home.ErrRefused), errors.Is(err, home.ErrCalledOff):
		return statusError{exitRefused, err}
	case errors.Is(err, home.ErrInvalidOption), errors.Is(err, home.ErrLost):
		return usageError{err}
	case errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, home.ErrAway):
		return statusError{exitWaited, err}
	default:
		return err
	}
}
