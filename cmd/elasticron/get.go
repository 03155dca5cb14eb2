package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func newGet(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "List jobs, items, executions, instances, servers or operations",
		Long: `Get lists what a namespace holds, as it was at one revision of the registry.

STATUS is a word of the console of Elastic-Job-Lite, or the reason why something that is
fine in these words is not: see docs/operating.md for all of them.

With --watch, a pipe gets all rows and then those that change. What was shown and is there no
more is "removed" (of -o json: "removed": true, without a value): a job that somebody removed, an
item that the job has no longer. An instance or a server is "gone" and an execution or an
operation "no longer kept"; of -o json they are "removed", too. What is there and is not what
--status asks for any more has left ("left": true, with the value that it has now).`,
		Example: `  elasticron get jobs
  elasticron get jobs --match 'orders-*' --status overdue,crashed
  elasticron get items orders -o wide`,
	}
	var below []*cobra.Command
	for _, l := range []*listing{listJobs(), listItems(), listExecutions(), listInstances(), listServers(), listOperations()} {
		below = append(below, newGetOne(p, l))
	}
	return parent(cmd, below...)
}

// listing is one kind of things to list.
type listing struct {
	name     string   // in the plural
	aliases  []string // its singular, and short forms
	argument string   // what the argument names
	about    string
	example  string
	header   []string // of the table; those of wide stand behind
	wide     []string
	words    []string // what --status may look for
	gone     string   // what --watch says of those that are there no more; empty = "removed"
	rows     func(ns *operate.Namespace, want selection) []listed
}

// kind is that of what the argument names.
func (l *listing) kind() string {
	switch l.argument {
	case "INSTANCE":
		return "instance"
	case "IP":
		return "server"
	default:
		return "job"
	}
}

// listed is one thing of a list.
type listed struct {
	name   string   // of -o name, which is also what sets it apart from others
	own    string   // what an argument names
	status []string // what --status looks at
	cells  []string // the columns of -o wide come last
	value  any      // of -o json and yaml
}

// selection says which things are wanted. The zero selection is all.
type selection struct {
	name   string   // empty = any
	match  string   // a pattern for the names of jobs, or of servers and instances
	status []string // any of these words; in any case of letters

	secrets bool // those of things that may have some are shown
}

// ofJob tells whether things of a job are wanted.
func (s selection) ofJob(job string) bool {
	return (s.name == "" || s.name == job) && s.matches(job)
}

func (s selection) matches(name string) bool {
	if s.match == "" {
		return true
	}
	matched, err := path.Match(s.match, name)
	return err == nil && matched
}

func (s selection) wants(l listed) bool {
	return len(s.status) == 0 || slices.ContainsFunc(s.status, func(word string) bool {
		return slices.ContainsFunc(l.status, func(has string) bool { return strings.EqualFold(word, has) })
	})
}

// getting is one run of the command.
type getting struct {
	program *program
	list    *listing
	want    selection
	output  format
	watch   bool
}

func newGetOne(p *program, l *listing) *cobra.Command {
	g := &getting{program: p, list: l}
	cmd := &cobra.Command{
		Use:     l.name + " [" + l.argument + "]",
		Aliases: l.aliases,
		Short:   "List " + l.name,
		Long:    l.about,
		Example: l.example,
		Args:    cobra.MaximumNArgs(1),
	}
	conn := reading(p, cmd, func(cmd *cobra.Command, args []string, at place) error {
		if len(args) > 0 {
			g.want.name = bare(l.kind(), args[0])
		}
		return g.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), at)
	})
	completes(cmd, conn, listedNames(l))
	cmd.PreRunE = func(*cobra.Command, []string) error { return g.check() }
	flags := cmd.Flags()
	outputFlag(flags, &g.output, formatWide, formatJSON, formatYAML, formatName)
	flags.BoolVarP(&g.watch, "watch", "w", false, "go on, and show what changes")
	flags.StringVar(&g.want.match, "match", "", "list those whose name matches, such as 'orders-*'; of items and executions, that of the job")
	flags.StringSliceVar(&g.want.status, "status", nil, "list those with one of these statuses or reasons, separated by commas")
	return cmd
}

func (g *getting) check() error {
	if _, err := path.Match(g.want.match, ""); err != nil {
		return misuse("--match is %q, want a pattern of letters, *, ? and [a-z]", g.want.match)
	}
	for _, word := range g.want.status {
		if !slices.ContainsFunc(g.list.words, func(known string) bool { return strings.EqualFold(known, word) }) {
			return misuse("--status of %s is %q, want some of: %s", g.list.name, word, strings.ToLower(strings.Join(g.list.words, ", ")))
		}
	}
	if g.watch && g.output == formatYAML {
		return misuse("--watch is given with -o yaml: want a table, wide, json or name")
	}
	return nil
}

func (g *getting) run(ctx context.Context, out, news io.Writer, at place) error {
	if all, is := at.(*registries); is && g.list.name == "jobs" {
		g.list = g.list.withRegistries(all)
	}
	if g.watch {
		return g.follow(ctx, out, news, at)
	}
	ns, err := g.read(ctx, at)
	if err != nil {
		return err
	}
	rows := g.rows(ns)
	if nothing := g.nothing(ctx, at, ns, rows); nothing != nil {
		return nothing
	}
	return g.show(out, ns, rows)
}

// read reads the namespace. Who may not read all of it, as a job of ZooKeeper may belong to another user, reads the job that the
// argument names.
func (g *getting) read(ctx context.Context, at place) (*operate.Namespace, error) {
	ns, err := operate.ReadNamespace(ctx, at, g.program.now())
	if errors.Is(err, registry.ErrDenied) && g.list.argument == "JOB" && g.want.name != "" {
		if one, failed := operate.ReadJob(ctx, at, g.want.name, g.program.now()); failed == nil {
			return one, nil
		}
	}
	return ns, err
}

// nothing says that what the argument names is not there, and where it is instead, if the rows are none for that reason.
func (g *getting) nothing(ctx context.Context, at place, ns *operate.Namespace, rows []listed) error {
	_, known := ns.State(g.want.name)
	if len(rows) > 0 || g.want.name == "" || known && g.list.argument == "JOB" {
		return nil
	}
	if moved := movedJob(ctx, at, g.want.name); moved != nil && g.list.argument == "JOB" {
		return moved
	}
	if known { // whoever names a job means that job's
		return fmt.Errorf("no %s is named %q; of the job of this name, elasticron describe job/%s lists them",
			strings.TrimSuffix(g.list.name, "s"), g.want.name, g.want.name)
	}
	return fmt.Errorf("no %s of %q", g.list.name, g.want.name)
}

// withRegistries adds to a list of jobs the registries where they are.
func (l *listing) withRegistries(all *registries) *listing {
	list := *l
	list.header = slices.Insert(slices.Clone(l.header), 1, "REGISTRY")
	list.rows = func(ns *operate.Namespace, want selection) []listed {
		rows := l.rows(ns, want)
		for i, r := range rows {
			at := all.registryOf(r.own)
			rows[i].cells = slices.Insert(slices.Clone(r.cells), 1, at)
			if row, is := r.value.(operate.JobRow); is {
				rows[i].value = struct {
					operate.JobRow
					Registry string `json:"registry"`
				}{row, at}
			}
		}
		return rows
	}
	return &list
}

func (g *getting) rows(ns *operate.Namespace) []listed {
	return slices.DeleteFunc(g.list.rows(ns, g.want), func(l listed) bool { return !g.want.wants(l) })
}

func (g *getting) show(out io.Writer, ns *operate.Namespace, rows []listed) error {
	switch g.output {
	case formatJSON, formatYAML:
		values := make([]any, 0, len(rows)) // an empty list rather than null
		for _, r := range rows {
			values = append(values, r.value)
		}
		return g.output.write(out, listOf{Revision: ns.Revision(), Time: ns.Time().UTC(), kind: g.list.name, values: values})
	case formatName:
		for _, r := range rows {
			if _, err := fmt.Fprintln(out, printable(r.name)); err != nil {
				return err
			}
		}
		return nil
	default:
		_, err := io.WriteString(out, g.table(rows, colourful(out)))
		return err
	}
}

// table lays rows out; without rows it says so.
func (g *getting) table(rows []listed, colour bool) string {
	if len(rows) == 0 {
		return "No " + g.list.name + " found.\n"
	}
	header := g.header()
	cells := [][]string{header}
	for _, r := range rows {
		cells = append(cells, r.cells[:len(header)])
	}
	text := tableOf(cells)
	if !colour {
		return text
	}
	return coloured(text, statusColumn(header))
}

func (g *getting) header() []string {
	if g.output == formatWide {
		return slices.Concat(g.list.header, g.list.wide)
	}
	return g.list.header
}

// statusColumn returns the column whose words have colours.
func statusColumn(header []string) string {
	if slices.Contains(header, "STATUS") {
		return "STATUS"
	}
	return "OUTCOME"
}

// colourful tells whether to write colours: to a terminal, unless somebody objects by the variables
// that many programs heed.
func colourful(out any) bool {
	return terminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// terminal tells whether somebody looks at what is written.
func terminal(out any) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
