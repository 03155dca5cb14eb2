package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/etcdflags"
	"github.com/elasticron/elasticron/seed"
)

// passwordVariable is the variable of the environment that holds etcd's password.
const passwordVariable = "ELASTICRON_PASSWORD"

func newSeed(p *program) *cobra.Command {
	s := seeding{program: p}
	cmd := &cobra.Command{
		Use:   "seed FILE",
		Short: "Fill a namespace from a YAML or properties file",
		Long: `Seed creates the jobs of a file that a namespace does not have: their configuration, and
which of their servers and items are disabled. What exists is kept, unless --overwrite is
given, and whether a job that exists is disabled in any case. What the file does not mention
is left alone. What it changes of a job that exists is written down, as elasticron audit shows
it, and elasticron rollback takes back its settings. Another class of a job that exists is
refused, and so are, unless --force is given, fewer items and times that are over. It can be
repeated. It goes to etcd, and takes no context: --etcd and --namespace say where.

The file is refused as a whole if anything is wrong with it. The name - stands for YAML from
standard input. A YAML file looks like this; members of the config that are left out have their
defaults:

  orders:
    config:
      jobClass: orders
      cron: 0 0/5 * * * ?
      shardingTotalCount: 4
    servers:
      10.0.0.7: DISABLED
    sharding:
      3:
        disabled:

A .properties file has a line for each node, as Elastic-Job 1.x had it:

  /orders/config={"jobName":"orders","jobClass":"orders","jobType":"SIMPLE", ...}
  /orders/servers/10.0.0.7=DISABLED

The password is read from $` + passwordVariable + `, or from the file that $` + passwordVariable + `_FILE names.`,
		Example: `  elasticron seed --etcd http://etcd1:2379 --namespace shop --dry-run jobs.yaml
  elasticron seed --etcd http://etcd1:2379 --namespace shop jobs.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	s.target = etcdflags.New(flags, "etcd", "", passwordVariable)
	flags.StringVarP(&s.namespace, "namespace", "n", "", "namespace to fill (required)")
	flags.BoolVar(&s.opts.Overwrite, "overwrite", false, "give nodes that exist the values of the file; a job stays disabled or enabled")
	flags.BoolVar(&s.opts.Force, "force", false, "consent to fewer items of a job that exists, and to times that are over and end it")
	flags.BoolVar(&s.opts.DryRun, "dry-run", false, "only tell what would be written")
	flags.StringVar(&s.opts.Reason, "reason", "", "why, for whoever reads later what was changed")
	flags.BoolVar(&s.json, "json", false, "report as JSON")
	return cmd
}

// seeding is one run of the command.
type seeding struct {
	program   *program
	target    *etcdflags.Flags
	namespace string
	opts      seed.Options
	json      bool
}

func (s *seeding) run(ctx context.Context, name string, in io.Reader, out, news io.Writer) (err error) {
	if s.namespace == "" {
		return misuse("--namespace is missing: want the namespace to fill")
	}
	file, err := readJobs(name, in)
	if err != nil {
		return err
	}
	reg, err := s.program.openEtcd(ctx, s.target, s.namespace, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave(ctx, reg)) }()
	told := s.program.teller(news)
	s.opts.Who, s.opts.How, s.opts.Progress = s.program.who(s.target.User()), agent(), told.jobs
	nodes, err := seed.Run(ctx, reg, file, s.opts)
	told.end()
	if errors.Is(err, seed.ErrInvalidOption) {
		return usageError{err}
	}
	if shown := s.show(out, nodes); shown != nil {
		return errors.Join(err, shown)
	}
	return err
}

func (s *seeding) show(out io.Writer, nodes []seed.Node) error {
	if s.json {
		return formatJSON.write(out, struct {
			Applied bool        `json:"applied"`
			Nodes   []seed.Node `json:"nodes"`
		}{!s.opts.DryRun, nodes})
	}
	rows := [][]string{{"NODE", "RESULT"}}
	for _, n := range nodes {
		rows = append(rows, []string{n.Path, string(n.Action)})
	}
	text := tableOf(rows)
	if s.opts.DryRun {
		text += "\nNothing was written: this is what would be done without --dry-run.\n"
	}
	_, err := io.WriteString(out, text)
	return err
}
