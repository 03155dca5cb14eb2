package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/etcdflags"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
)

// Variables of the environment that hold passwords.
const (
	passwordOfSource = "ELASTICRON_FROM_PASSWORD"
	passwordOfTarget = "ELASTICRON_TO_PASSWORD"
)

func newMigrate(p *program) *cobra.Command {
	m := migration{program: p}
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Copy the jobs of a namespace from ZooKeeper to etcd",
		Long: `Migrate copies what people decided about the jobs of a namespace: their configuration,
the items that are disabled, and the servers that are. It reads the trees of
Elastic-Job-Lite 2.1 and of ElasticJob 3.x. What instances keep of their work, such as
owners, executions and missed fires, is not copied.

Executions that were lost, and that the source would run again, are run again in etcd
if etcd did not have the job. Jobs whose instances live are moved by elasticron migrate move.

It writes nothing unless --apply is given, and never changes ZooKeeper. It can be
repeated: jobs that are the same already are left alone, and so are jobs that were
changed in etcd, unless --overwrite is given; then that is written down, as elasticron audit
shows it. Jobs that still run are refused.

The exit status is 0 if all jobs are in etcd as they should be, or would be with --apply,
1 if one was refused, differs or could not be written, or a server cannot be used, and 2
if the command line is wrong.

In place of ZooKeeper, --from-etcd names an etcd whose namespace is copied to another cluster, or to
--to-namespace of the same one.

Passwords are read from $` + passwordOfSource + ` and $` + passwordOfTarget + `.`,
		Example: `  # what would be done
  elasticron migrate --from zk1:2181,zk2:2181 --to http://etcd1:2379 --namespace shop

  # do it, for two jobs whose Java instances are in Berlin
  elasticron migrate --from zk1:2181,zk2:2181 --to http://etcd1:2379 --namespace shop \
      --job orders --job invoices --time-zone Europe/Berlin --apply`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return m.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	m.declare(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&m.opts.Apply, "apply", false, "write to etcd (default: only tell what would be written)")
	flags.BoolVar(&m.opts.EvenIfRunning, "even-if-running", false, "copy jobs that have live instances or executions, too")
	cmd.AddCommand(newMigrateMove(p), newMigrateReturn(p), newMigrateConfirm(p))
	return cmd
}

// declare declares the flags that all ways to migrate have.
func (m *migration) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	m.source = newSource(flags)
	m.target = etcdflags.New(flags, "to", "to-", passwordOfTarget)
	flags.StringVar(&m.namespace, "namespace", "", "namespace of the jobs (required)")
	flags.StringVar(&m.targetNamespace, "to-namespace", "", "namespace in etcd (default: the same)")
	flags.StringArrayVar(&m.opts.Jobs, "job", nil, "this job; may be repeated (default: all jobs of the namespace)")
	flags.BoolVar(&m.opts.Overwrite, "overwrite", false, "make jobs that differ in etcd as ZooKeeper has them")
	flags.StringVar(&m.opts.TimeZone, "time-zone", "", "zone of the Java hosts, for jobs that name none, such as Europe/Berlin (default: UTC)")
	flags.StringVar(&m.opts.Reason, "reason", "", "why, for whoever reads later what was changed")
	flags.BoolVar(&m.json, "json", false, "report as JSON")
}

// migration is one run of the command.
type migration struct {
	program                    *program
	source                     *source
	target                     *etcdflags.Flags
	namespace, targetNamespace string
	opts                       migrate.Options
	json                       bool
}

func (m *migration) run(ctx context.Context, out, news io.Writer) error {
	var report migrate.Report
	err := m.among(ctx, news, bothSides, func(ctx context.Context, from, to registry.Registry) (err error) {
		report, err = migrate.Run(ctx, from, to, m.opts)
		return err
	})
	if err != nil && report.Jobs == nil {
		return err
	}
	if shown := m.show(out, report); shown != nil {
		return shown
	}
	if err != nil {
		return err
	}
	return complete(report)
}

// sides are the registries that a run uses.
type sides int

const (
	bothSides   sides = iota
	sourceAlone       // the target is gone for good
	targetAlone       // the source is
)

// among opens the registries for what is to be done among them, until somebody interrupts that. One that is not used is nil.
func (m *migration) among(ctx context.Context, news io.Writer, used sides, do func(ctx context.Context, from, to registry.Registry) error) (err error) {
	if m.namespace == "" {
		return misuse("--namespace is missing: want the namespace of the jobs")
	}
	if m.targetNamespace == "" {
		m.targetNamespace = m.namespace
	}
	switch {
	case used == sourceAlone && m.target.Given():
		return misuse("--to is given, and so is --target-lost: want one of them")
	case used == targetAlone && (len(m.source.servers) > 0 || m.source.etcd.Given()):
		return misuse("a source is given, and so is --source-lost: want one of them")
	}
	if used == bothSides && m.targetNamespace == m.namespace && m.source.etcd.Given() && m.source.etcd.SameServers(m.target) {
		return misuse("source and target are the namespace %q of one cluster: want another --to, or --to-namespace", m.namespace)
	}
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer restore()
	var from, to registry.Registry
	if used != targetAlone {
		if from, err = m.source.open(ctx, m.program, m.namespace); err != nil {
			return fmt.Errorf("source: %w", err)
		}
		defer func() { err = errors.Join(err, leave(ctx, from)) }()
	}
	if used != sourceAlone {
		if to, err = m.program.openEtcd(ctx, m.target, m.targetNamespace, nil); err != nil {
			return fmt.Errorf("target: %w", err)
		}
		defer func() { err = errors.Join(err, leave(ctx, to)) }()
	}
	told := m.program.teller(news)
	m.opts.Who, m.opts.How, m.opts.Progress = m.program.who(m.target.User()), agent(), told.jobs
	err = do(ctx, from, to)
	told.end()
	switch {
	case errors.Is(err, migrate.ErrNoJobs):
		return fmt.Errorf("%w: %s", err, m.namespace)
	case errors.Is(err, migrate.ErrInvalidOption):
		return usageError{err}
	}
	return err
}

func (m *migration) show(out io.Writer, report migrate.Report) error {
	if !m.json {
		return showMigration(out, report)
	}
	return formatJSON.write(out, report)
}

// complete is the error of a report in which jobs were left behind.
func complete(report migrate.Report) error {
	left := 0
	for _, j := range report.Jobs {
		if !j.Action.Done() {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d jobs are not as they should be", left, len(report.Jobs))
}
