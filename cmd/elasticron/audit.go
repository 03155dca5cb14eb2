package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func newAudit(p *program) *cobra.Command {
	g := &getting{program: p, list: listOperations()}
	cmd := &cobra.Command{
		Use:   "audit [JOB]",
		Short: "List what was done to jobs, and what was changed from outside",
		Long: `Audit lists what operators did to jobs, the oldest first: the last 16 operations of each. Below,
it names settings, servers and items that somebody has changed since by other means: by hand, by
Java's console, or by a program that writes the registry itself. Of -o json and yaml, an operation
that changed settings has them as they were before, without what may be secret.`,
		Example: `  elasticron audit
  elasticron audit orders -o json`,
		Args: cobra.MaximumNArgs(1),
	}
	conn := reading(p, cmd, func(cmd *cobra.Command, args []string, at place) error {
		if len(args) > 0 {
			g.want.name = bare("job", args[0])
		}
		return g.audit(cmd.Context(), cmd.OutOrStdout(), at)
	})
	completes(cmd, conn, jobNames)
	flags := cmd.Flags()
	outputFlag(flags, &g.output, formatWide, formatJSON, formatYAML)
	secretsFlag(flags, &g.want.secrets)
	flags.StringVar(&g.want.match, "match", "", "operations on jobs whose name matches, such as 'orders-*'")
	cmd.PreRunE = func(*cobra.Command, []string) error { return g.check() }
	return cmd
}

func (g *getting) audit(ctx context.Context, out io.Writer, at place) error {
	list := func() ([]registry.Node, registry.Revision, error) { return at.List(ctx, registry.Root) }
	if g.want.secrets {
		list = func() ([]registry.Node, registry.Revision, error) { return listStored(ctx, at, g.want.ofJob) }
	}
	nodes, revision, err := list()
	if err != nil {
		return err
	}
	ns := operate.NewNamespace(nodes, revision, g.program.now(), operate.MayHoldJava(at))
	rows := g.rows(ns)
	outside := slices.DeleteFunc(operate.Outside(registry.NewSnapshot(revision, nodes)), func(c operate.OutsideChange) bool { return !g.want.ofJob(c.Job) })
	unreadable, why := ns.UnreadableOperations()
	unreadable = slices.DeleteFunc(unreadable, func(job string) bool { return !g.want.ofJob(job) })
	if _, known := ns.State(g.want.name); g.want.name != "" && !known && len(rows)+len(outside)+len(unreadable) == 0 {
		return missing(ctx, at, g.want.name) // or a slip of the pen would look as if nothing had been done
	}
	if g.output == formatJSON || g.output == formatYAML {
		operations := make([]any, 0, len(rows))
		for _, r := range rows {
			operations = append(operations, r.value)
		}
		return g.output.write(out, struct {
			Operations []any                   `json:"operations"`
			Outside    []operate.OutsideChange `json:"outside,omitempty"`
			Unreadable []string                `json:"unreadable,omitempty"` // jobs
		}{operations, outside, unreadable})
	}
	text := g.table(rows, false)
	for _, c := range outside {
		text += fmt.Sprintf("! %s\n", printable(c.String()))
	}
	for _, job := range unreadable {
		text += printable(fmt.Sprintf("! what was done to %q cannot be read: %s", job, why[job])) + "\n"
	}
	_, err = io.WriteString(out, text)
	return err
}

// listOperations is for get and for audit.
func listOperations() *listing {
	return &listing{
		name: "operations", aliases: []string{"operation", "op"}, argument: "JOB", gone: goneKept,
		about: `Get operations lists what operators did to jobs: the last 16 operations of each. --status looks
at the verb, such as 'change settings'.`,
		example: `  elasticron get operations
  elasticron get operations orders -o wide`,
		header: []string{"TIME", "ID", "JOB", "VERB", "TARGET", "WHO", "REASON"}, // rollback asks for the id
		wide:   []string{"HOW", "CHANGED"},
		words:  verbs(),
		rows: func(ns *operate.Namespace, want selection) (all []listed) {
			var operations []operate.Operation
			of := ns.Operations
			if want.secrets {
				of = ns.OperationsWithSecrets
			}
			for _, job := range ns.Names() {
				if want.ofJob(job) {
					operations = append(operations, of(job)...)
				}
			}
			slices.SortStableFunc(operations, func(a, b operate.Operation) int { return a.When.Compare(b.When) })
			for _, o := range operations {
				all = append(all, listed{
					name: "operation/" + o.Job + "/" + o.ID, own: o.Job, status: []string{string(o.Verb)}, value: o,
					cells: []string{
						instant(o.When), o.ID, o.Job, string(o.Verb), orDash(o.Target), o.Who, orDash(o.Reason), orDash(o.How), orDash(o.Changed),
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
