package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

func newTrigger(p *program) *cobra.Command {
	var t operate.Trigger
	fire := ""
	cmd := &cobra.Command{
		Use:   "trigger [JOB]...",
		Short: "Run jobs now, or some of their items",
		Long: `Trigger runs a job once, whatever its cron says. It is one write, however many instances
share the job. An item that runs already runs once more right after. With --wait it lists what
became of each item, and the exit status is 4 if one has failed.`,
		Example: `  elasticron trigger orders --dry-run
  elasticron trigger orders --items 0 --parameter 'day=2026-03-01' --reason 'table was empty'
  elasticron trigger --match 'order*' --yes --replace`,
	}
	newJobsVerb(p, cmd, func(v *verb) (ofJob, error) {
		return func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			result, err := v.op.Trigger(ctx, job, t, opts)
			var refusal *operate.Refusal
			if errors.As(err, &refusal) && refusal.Cause == operate.CausePending && !t.Replace {
				refusal.Do = "wait for it, or replace it with --replace"
			}
			return result, err
		}, instantFlag("--fire", fire, &t.Fire)
	})
	flags := cmd.Flags()
	flags.Var(&itemsFlag{&t.Items}, "items", "items to run, such as 0,3 or 0-9 (default: all)")
	flags.StringVar(&t.Parameter, "parameter", "", "text for the code of the items")
	flags.StringVar(&fire, "fire", "", "fire that the runs stand for, such as 2026-03-01T02:30:00Z (default: none)")
	flags.DurationVar(&t.Within, "within", operate.DefaultTriggerWithin, "how long from now an item may begin")
	flags.BoolVar(&t.Replace, "replace", false, "take the place of a trigger that goes on")
	return cmd
}

// newJobsVerb gives a command the flags of all operations and --match, and what it does to each job that its arguments
// name, or whose name matches. A fault of its own flags goes before one of the jobs.
func newJobsVerb(p *program, cmd *cobra.Command, of func(v *verb) (ofJob, error)) {
	match := ""
	newVerb(p, cmd, func(v *verb, args []string) error {
		do, err := of(v)
		if err != nil {
			return err
		}
		return v.jobs(args, match, do)
	})
	matchFlag(cmd, &match)
}

// jobs carries out an operation on one job that was named, or on several.
func (v *verb) jobs(args []string, match string, do ofJob) error {
	jobs, err := v.jobsOf(args, match)
	if err != nil {
		return err
	}
	return v.ofJobs(jobs, match, do)
}

func (v *verb) ofJobs(jobs []string, match string, do ofJob) error {
	if len(jobs) == 1 && match == "" {
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) { return do(ctx, jobs[0], opts) })
	}
	return v.several(jobs, do)
}

func matchFlag(cmd *cobra.Command, match *string) {
	cmd.Flags().StringVar(match, "match", "", "the jobs whose name matches, such as 'orders-*'; asks, unless --yes is given")
}

func instantFlag(name, text string, to *time.Time) (err error) {
	if text == "" {
		return nil
	}
	if *to, err = time.Parse(time.RFC3339, text); err != nil {
		return misuse("%s is %q, want a time such as 2026-03-01T02:30:00Z", name, text)
	}
	return nil
}

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

// inAllJobs does to all jobs of a server or an instance what the operator has one call for.
func (v *verb) inAllJobs(name string, do func(context.Context, string, operate.Options) ([]operate.JobResult, error)) error {
	opts := v.opts
	opts.Progress = nil
	if !v.yes && !opts.DryRun {
		dry := opts
		dry.DryRun = true
		planned, err := do(v.ctx, name, dry)
		var some *operate.SomeFailedError
		if err != nil && (!errors.As(err, &some) || len(some.Failed()) == len(planned)) {
			return err
		}
		text := ""
		for _, r := range planned {
			text += jobResultText(r, true)
		}
		if err := v.ask(text); err != nil {
			return err
		}
	}
	results, err := do(v.ctx, name, opts)
	if v.output == formatTable {
		for _, r := range results {
			if _, err := io.WriteString(v.news, jobResultText(r, opts.DryRun)); err != nil {
				return err
			}
		}
	}
	return v.end(results, err)
}

func newShutdown(p *program) *cobra.Command {
	job := ""
	cmd := &cobra.Command{
		Use:   "shutdown instance/ID",
		Short: "Have an instance leave its jobs, or one of them",
		Long: `Shutdown asks an instance to leave: it ends what it runs, its items move to others, and its
process goes on. It takes part again when the process starts anew. It asks, unless --yes is
given.`,
		Example: `  elasticron shutdown instance/10.0.0.2@-@7-b --dry-run
  elasticron shutdown instance/10.0.0.2@-@7-b --job orders --yes`,
		Args: cobra.ExactArgs(1),
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		t, err := targetOf(args[0], "instance")
		if err != nil {
			return err
		}
		if job == "" {
			return v.inAllJobs(t.name, v.op.ShutDownEverywhere)
		}
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			return v.op.ShutDown(ctx, job, t.name, opts)
		})
	})
	v.asks = true
	completes(cmd, v.conn, targetNames("instance"))
	cmd.Flags().StringVar(&job, "job", "", "only this job")
	return cmd
}

func newGiveUp(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "give-up item/JOB/NUMBER",
		Short: "Do not run a lost execution again",
		Long: `Give-up ends the waiting of an item whose execution was lost: that is not run again, and the
item goes on with its next fire.`,
		Example: `  elasticron give-up item/lost/0 --reason 'was done by hand'`,
		Args:    cobra.ExactArgs(1),
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		t, err := targetOf(args[0], "item")
		if err != nil {
			return err
		}
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			return v.op.GiveUp(ctx, t.name, t.item, opts)
		})
	})
	completes(cmd, v.conn, targetNames("item"))
	return cmd
}

func newTidy(p *program) *cobra.Command {
	var servers []string
	cmd := &cobra.Command{
		Use:   "tidy [JOB]...",
		Short: "Forget servers on which no instance lives",
		Long: `Tidy deletes what jobs store of servers on which none of their instances lives: of those that
--servers names, or else of all that are not disabled.`,
		Example: `  elasticron tidy nightly --servers 10.0.0.3`,
	}
	newJobsVerb(p, cmd, func(v *verb) (ofJob, error) {
		return func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			return v.op.TidyServers(ctx, job, servers, opts)
		}, nil
	})
	cmd.Flags().StringSliceVar(&servers, "servers", nil, "addresses, separated by commas (default: all that are not disabled)")
	return cmd
}

func newReshard(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "reshard [JOB]...",
		Short:   "Ask the leader of a job to assign its items anew",
		Example: `  elasticron reshard orders`,
	}
	newJobsVerb(p, cmd, func(v *verb) (ofJob, error) { return v.op.Reshard, nil })
	return cmd
}

func newRemove(p *program) *cobra.Command {
	match, to := "", ""
	cmd := &cobra.Command{
		Use:   "remove [JOB]...",
		Short: "Delete jobs with all that is known of them",
		Long: `Remove disables a job, waits until nothing of it runs, and deletes it. It is refused while
instances take part, unless --force is given. If it is interrupted, the job stays disabled:
repeat it, or enable the job. A process that declares the job in code creates it again when it
starts next. It asks, unless --yes is given.

Before anything is removed, the jobs are written to a file that only you can read, as elasticron
export would write them, and the output says where: elasticron apply -f stores them again. With a
job goes all else that the registry knows of it, such as its last results, checkpoints and operations.`,
		Example: `  elasticron remove orders --force --dry-run
  elasticron remove stopped --yes`,
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		jobs, err := v.jobsOf(args, match)
		if err != nil {
			return err
		}
		if to == keepInOutput && v.output != formatTable {
			return misuse("--export is -, and -o is %s: want one of them, as both write to the output", v.output)
		}
		k := &keeping{v: v, to: to, jobs: jobs}
		return errors.Join(v.ofJobs(jobs, match, k.removes(v.op.Remove)), k.end())
	})
	v.asks = true
	matchFlag(cmd, &match)
	cmd.Flags().StringVar(&to, "export", "", "new file for the jobs, - for the output, or none (default: a file in the folder removed, beside that of the contexts)")
	return cmd
}

func newRollback(p *program) *cobra.Command {
	operation := ""
	cmd := &cobra.Command{
		Use:   "rollback JOB --to OPERATION",
		Short: "Store the settings as they were before an operation",
		Long: `Rollback stores the settings as they were before an operation that changed them, and leaves the
job disabled or enabled as it is. elasticron audit lists the operations. It asks, unless --yes is
given.`,
		Example: `  elasticron edit orders --set cron='0 0/3 * * * ?' --id CHANGE1 --yes
  elasticron rollback orders --to CHANGE1 --yes`,
		Args: cobra.ExactArgs(1),
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		if operation == "" {
			return misuse("--to is missing: want the id of an operation, as elasticron audit lists it")
		}
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			return v.op.RollBack(ctx, args[0], operation, opts)
		})
	})
	v.asks = true
	cmd.Flags().StringVar(&operation, "to", "", "id of the operation (required)")
	return cmd
}

// listOperations is for get and for audit.
func listOperations() *listing {
	return &listing{
		name: "operations", aliases: []string{"operation", "op"}, argument: "JOB",
		about: `Get operations lists what operators did to jobs: the last 16 operations of each. --status looks
at the verb, such as 'change settings'.`,
		example: `  elasticron get operations
  elasticron get operations orders -o wide`,
		header: []string{"TIME", "JOB", "VERB", "TARGET", "WHO", "REASON"},
		wide:   []string{"ID", "HOW", "CHANGED"},
		words:  verbs(),
		rows: func(ns *operate.Namespace, want selection) (all []listed) {
			var operations []operate.Operation
			for _, job := range ns.Names() {
				if want.ofJob(job) {
					operations = append(operations, ns.Operations(job)...)
				}
			}
			slices.SortStableFunc(operations, func(a, b operate.Operation) int { return a.When.Compare(b.When) })
			for _, o := range operations {
				all = append(all, listed{
					name: "operation/" + o.Job + "/" + o.ID, own: o.Job, status: []string{string(o.Verb)}, value: o,
					cells: []string{
						instant(o.When), o.Job, string(o.Verb), orDash(o.Target), o.Who, orDash(o.Reason), o.ID, orDash(o.How), orDash(o.Changed),
					},
				})
			}
			return all
		},
	}
}

func verbs() (all []string) {
	for _, v := range operate.Verbs() {
		all = append(all, string(v))
	}
	return all
}

func newAudit(p *program) *cobra.Command {
	g := &getting{program: p, list: listOperations()}
	cmd := &cobra.Command{
		Use:   "audit [JOB]",
		Short: "List what was done to jobs, and what was changed from outside",
		Long: `Audit lists what operators did to jobs, the oldest first: the last 16 operations of each. Below,
it names settings, servers and items that somebody has changed since by other means: by hand, by
Java's console, or by a program that writes the registry itself.`,
		Example: `  elasticron audit
  elasticron audit orders -o json`,
		Args: cobra.MaximumNArgs(1),
	}
	reading(p, cmd, func(cmd *cobra.Command, args []string, at place) error {
		if len(args) > 0 {
			g.want.name = args[0]
		}
		return g.audit(cmd.Context(), cmd.OutOrStdout(), at)
	})
	flags := cmd.Flags()
	outputFlag(flags, &g.output, formatWide, formatJSON, formatYAML)
	flags.StringVar(&g.want.match, "match", "", "operations on jobs whose name matches, such as 'orders-*'")
	cmd.PreRunE = func(*cobra.Command, []string) error { return g.check() }
	return cmd
}
