package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
)

func newMigrateMove(p *program) *cobra.Command {
	m := movement{migration: migration{program: p}, way: migrate.Move}
	cmd := m.command(&cobra.Command{
		Use:   "move",
		Short: "Move jobs from a cluster that runs them to etcd, one by one",
		Long: `Move brings one job after the other from ZooKeeper to etcd while its instances live, so that
never both sides run it:

  1. etcd gets the job, disabled. Its instances may start now, and wait.
  2. The job is disabled in ZooKeeper, and its servers. What runs there ends by itself.
  3. The job is enabled in etcd. Its fencing tokens are above those of ZooKeeper, and lost
     executions are run again here.

Without --apply it tells what it would do. It can be stopped, and started again by anybody:
it goes on from where the job stands. elasticron migrate return takes jobs back, until
elasticron migrate confirm ends their moves.

Java begins executions without looking at the registry again. So if Java instances live, the
job must be quiet for as long as --settle before step 3. If a job has monitorExecution off,
nobody can tell what runs: choose --settle longer than its executions. A Java process that
starts anew and overwrites the settings enables the job again: start none until the move is
confirmed.

The exit status is 0 if all jobs are moved, or nothing is in the way of that, 1 if one could
not be moved or a server cannot be used, and 2 if the command line is wrong.`,
		Example: `  elasticron migrate move --from zk1:2181 --to http://etcd1:2379 --namespace shop --job orders
  elasticron migrate move --from zk1:2181 --to http://etcd1:2379 --namespace shop --job orders --apply`,
	})
	m.settles(cmd, "how long a job of Java, or one whose executions are not recorded, must be quiet before etcd runs it (default 10s)")
	return cmd
}

func newMigrateReturn(p *program) *cobra.Command {
	m := movement{migration: migration{program: p}, way: migrate.Return, left: sourceAlone, alone: migrate.ReturnWithoutTarget}
	cmd := m.command(&cobra.Command{
		Use:   "return",
		Short: "Take jobs back that were moved to etcd",
		Long: `Return takes jobs back that elasticron migrate move has moved, or has begun to move. The job is
disabled in etcd, what runs there is waited for, and then ZooKeeper's job gets back the settings
and servers that it had before. etcd keeps the job, disabled, and it can be moved again.

If a job has monitorExecution off, nobody can tell what runs: choose --settle longer than its
executions.

If etcd is gone for good, with all that it had of the job, --target-lost takes the job back without
it, also after confirm. Name what went to that etcd with --job: ZooKeeper does not say where a job
went, and one that went to another etcd, or namespace, would run on both sides. Without --job,
each job that was moved is shown and refused. Records and checkpoints are then those of when the
job was disabled in ZooKeeper, so what has run in etcd since may be done again; fencing tokens are
above those of etcd. Nobody asks etcd: if it runs the job none the less, both do. If instances can
still reach it, stop them first.

Without --apply it tells what it would do. It can be stopped and started again.`,
		Example: `  elasticron migrate return --from zk1:2181 --to http://etcd1:2379 --namespace shop --job orders --apply

  # etcd is gone for good
  elasticron migrate return --target-lost --from zk1:2181 --namespace shop --job orders --apply`,
	})
	cmd.Flags().BoolVar(&m.lost, "target-lost", false, "etcd is gone for good: take the jobs of --job back without it, and without --to")
	m.settles(cmd, "how long a job whose executions are not recorded must be quiet before ZooKeeper runs it (default 10s)")
	return cmd
}

func newMigrateConfirm(p *program) *cobra.Command {
	m := movement{migration: migration{program: p}, way: migrate.Confirm, left: targetAlone, alone: migrate.ConfirmWithoutSource}
	cmd := m.command(&cobra.Command{
		Use:   "confirm",
		Short: "End the moves of jobs: there is no way back then",
		Long: `Confirm ends the moves of jobs that elasticron migrate move has moved. From then on there is no way
back. ZooKeeper keeps its job, disabled, until somebody removes it. So confirm the moves of all jobs
before you switch ZooKeeper off.

If ZooKeeper is gone for good, --source-lost has etcd forget the moves without it, also those that
had not come to their end: such a job stays disabled, and is yours to enable; its state is then
"not moved". Name what came from that ZooKeeper with --job: etcd does not say from where a job came,
and another source could not take its job back any more. Without --job, each job that was moved is
shown and refused. Nobody asks ZooKeeper: if it runs the job none the less, both do. If instances
can still reach it, stop them first.

Without --apply it tells what it would do.`,
		Example: `  elasticron migrate confirm --from zk1:2181 --to http://etcd1:2379 --namespace shop --job orders --apply

  # ZooKeeper is gone for good
  elasticron migrate confirm --source-lost --to http://etcd1:2379 --namespace shop --job orders --apply`,
	})
	cmd.Flags().BoolVar(&m.lost, "source-lost", false, "ZooKeeper is gone for good: end the moves of --job without it, and without --from")
	return cmd
}

// movement is one run of a command that moves jobs.
type movement struct {
	migration
	opts migrate.MoveOptions
	way  func(ctx context.Context, source, target migrate.Side, opts migrate.MoveOptions) (migrate.MoveReport, error)

	lost  bool  // one side is gone for good
	left  sides // the other one
	alone func(ctx context.Context, left migrate.Side, opts migrate.MoveOptions) (migrate.MoveReport, error)
}

// command completes one of the commands.
func (m *movement) command(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return m.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	m.declare(cmd)
	cmd.Flags().BoolVar(&m.migration.opts.Apply, "apply", false, "do it (default: only tell what would be done)")
	cmd.Flags().DurationVar(&m.opts.Wait, "wait", 0, "how long to wait for the executions of one job, without --settle (default: without end)")
	return cmd
}

func (m *movement) settles(cmd *cobra.Command, usage string) {
	cmd.Flags().DurationVar(&m.opts.Settle, "settle", 0, usage)
}

func (m *movement) run(ctx context.Context, out, news io.Writer) error {
	var report migrate.MoveReport
	used := bothSides
	if m.lost {
		used = m.left
	}
	err := m.among(ctx, news, used, func(ctx context.Context, from, to registry.Registry) (err error) {
		m.opts.Options = m.migration.opts
		switch used {
		case targetAlone:
			report, err = m.alone(ctx, to, m.opts)
		case sourceAlone:
			report, err = m.alone(ctx, from, m.opts)
		default:
			report, err = m.way(ctx, from, to, m.opts)
		}
		return err
	})
	if err != nil && report.Jobs == nil {
		return err
	}
	if shown := m.show(out, report); shown != nil {
		return shown
	}
	if err == nil && !report.Complete() {
		err = fmt.Errorf("not all of %d jobs are where they should be", len(report.Jobs))
	}
	return err
}

// show writes a report: for people, a line for each job, and below it what is to be known.
func (m *movement) show(out io.Writer, report migrate.MoveReport) error {
	if m.json {
		return formatJSON.write(out, report)
	}
	rows := [][]string{{"JOB", "TREE", "STATE"}}
	var details strings.Builder
	for _, j := range report.Jobs {
		format := j.Format
		if format == "" {
			format = "?"
		}
		rows = append(rows, []string{j.Name, string(format), string(j.State)})
		if len(j.Steps)+len(j.Notes) > 0 || j.Reason != "" {
			fmt.Fprintf(&details, "\n%s: %s\n", j.Name, j.State)
		}
		if j.Reason != "" {
			fmt.Fprintf(&details, "  %s\n", strings.ReplaceAll(j.Reason, "\n", "\n  "))
		}
		for i, step := range j.Steps {
			fmt.Fprintf(&details, "  %d. %s\n", i+1, step)
		}
		for _, note := range j.Notes {
			fmt.Fprintf(&details, "  note: %s\n", note)
		}
	}
	text := tableOf(rows) + details.String()
	if !report.Applied {
		text += "\nNothing was changed: these are the steps that --apply would take.\n"
	}
	_, err := io.WriteString(out, text)
	return err
}
