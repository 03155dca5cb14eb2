package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// historyVariable is the variable of the environment that names the file of a history.
const historyVariable = "ELASTICRON_HISTORY"

// logging is one run of the command.
type logging struct {
	program *program
	conn    *connection
	history string
	token   int64
	last    int
	tail    int
	output  format
}

func newLogs(p *program) *cobra.Command {
	l := &logging{program: p}
	cmd := &cobra.Command{
		Use:   "logs job/NAME | item/JOB/NUMBER | execution/JOB/NUMBER/BEGIN",
		Short: "Print what executions of script and HTTP jobs wrote",
		Long: `Logs prints what is kept of the output of the newest execution that has one, of a job or an item,
or of the execution that get executions -o name names: its beginning and its end, with a line that
says how much is left out between. Secrets that the worker knows are replaced in it.

Outputs are in the history of the worker that ran the job. Name its file by --history or the
variable ` + historyVariable + `, on the worker's machine; or go through a server that was started
with --history. If this history has none, logs asks the registry on which machine the item ran, and
says it. What get executions names is looked up in the registry, which keeps the last two executions
of an item; --token and --last also find older ones in the history. Of an execution that was tried
several times, each attempt is there, below its number.`,
		Example: `  elasticron logs job/orders
  elasticron logs item/orders/0 --last 3 --tail 20
  elasticron logs job/orders --token 41 -o json
  elasticron logs execution/orders/0/2026-03-02T12:00:00.02Z`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	l.conn = newConnection(p, flags)
	historyFlag(flags, &l.history)
	flags.Int64Var(&l.token, "token", 0, "print that of the execution with this fencing token, which get executions -o wide shows")
	flags.IntVar(&l.last, "last", 1, "print those of so many executions, the newest at the end")
	flags.IntVar(&l.tail, "tail", 0, "print so many lines of the end of each (default: all)")
	outputFlag(flags, &l.output, formatJSON, formatYAML)
	cmd.PreRunE = func(*cobra.Command, []string) error { return l.check() }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return l.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0])
	}
	completes(cmd, l.conn, targetNames(listJobs(), listItems(), listExecutions()))
	return cmd
}

// historyFlag gives a command the flag that names the file of a history.
func historyFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(to, "history", "", "SQLite file of the history that has the outputs (default: $"+historyVariable+"; through a server, that of the server)")
}

func (l *logging) check() error {
	switch {
	case l.last < 1 || l.last > history.MaxOutputs:
		return misuse("--last is %d, want 1 to %d", l.last, history.MaxOutputs)
	case l.tail < 0:
		return misuse("--tail is %d, want a number of lines above 0", l.tail)
	case l.token < 0:
		return misuse("--token is %d, want a fencing token, which is above 0", l.token)
	case l.history != "" && l.conn.server != "":
		return misuse("--history is given besides --server, which has its own: want one of them")
	}
	return nil
}

func (l *logging) run(ctx context.Context, out, news io.Writer, what string) error {
	q, begun, err := queryOf(what)
	if err != nil {
		return err
	}
	q.Limit, q.Token = l.last, l.token
	if begun != "" {
		if l.token != 0 {
			return misuse("--token is given besides an execution: want one of them")
		}
		q.Limit = 1
	}
	return l.with(ctx, begun != "", func(kept history.OutputReader, at place) error {
		if begun != "" {
			row, err := executionNamed(ctx, at, q, begun, l.program.now())
			if err != nil {
				return err
			}
			if q.Token = row.Token; q.Token == 0 {
				return fmt.Errorf("the execution has no token, by which its output could be found: want item/%s/%d", q.Job, *q.Item)
			}
		}
		found, err := readOutputs(ctx, kept, q)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("no output of %s is kept%s in this history%s", what, underToken(l.token), l.elsewhere(ctx, at, q))
		}
		return l.show(out, news, found)
	})
}

// searching bounds how long the registry is asked where an execution ran, for an error that is one already.
const searching = 5 * time.Second

// elsewhere says where the executions ran whose output is asked for, and how to read it there, as far as the registry
// knows and can be asked: a history is that of one worker.
func (l *logging) elsewhere(ctx context.Context, at place, q history.OutputQuery) string {
	ctx, cancel := context.WithTimeout(ctx, searching)
	defer cancel()
	var ran []operate.ExecutionRow
	ask := func(at place) error {
		ns, err := operate.ReadJob(ctx, at, q.Job, l.program.now())
		if err != nil {
			return err
		}
		for _, row := range ns.Executions(q.Job) {
			if (q.Item == nil || row.Item == *q.Item) && (q.Token == 0 || row.Token == q.Token) {
				ran = append(ran, row)
			}
		}
		return nil
	}
	var err error
	if at != nil {
		err = ask(at)
	} else {
		err = l.conn.with(ctx, ask)
	}
	switch {
	case err != nil:
		return ", and a history is that of one worker: ask the one that ran it"
	case len(ran) == 0:
		return ", and the registry knows of none that ran: it keeps the last two of each item"
	}
	slices.SortFunc(ran, func(a, b operate.ExecutionRow) int { return b.Begin.Compare(a.Begin) })
	var where []string
	for _, row := range ran {
		text := fmt.Sprintf("item %d began %s on %s (%s)", row.Item, row.Begin.Format(time.RFC3339Nano), jobtree.ServerOf(row.Instance), row.Instance)
		if len(where) < mostPlaces {
			where = append(where, text)
		}
	}
	return fmt.Sprintf(": %s. If it wrote anything, the history of the worker there has it: call elasticron logs on that machine, or by kubectl exec in that pod, with --history", strings.Join(where, ", "))
}

// mostPlaces is how many executions are named that ran elsewhere.
const mostPlaces = 3

func underToken(token int64) string {
	if token == 0 {
		return ""
	}
	return fmt.Sprintf(" under the token %d", token)
}

// executionShape is how an execution is named.
const executionShape = "execution/JOB/NUMBER/BEGIN"

// queryOf reads an argument. begun is when the execution began that it names, if it names one.
func queryOf(what string) (q history.OutputQuery, begun string, err error) {
	named := what
	if word, rest, _ := strings.Cut(what, "/"); word == "execution" || word == "executions" {
		name, at, _ := cutLast(rest)
		if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
			return q, "", misuse("%q is given, want %s as get executions -o name has it", what, executionShape)
		}
		named, begun = "item/"+name, at
	}
	t, err := targetOf(named, "job", "item")
	if err != nil {
		return q, "", err
	}
	q.Job = t.name
	if t.kind == "item" {
		q.Item = &t.item
	}
	return q, begun, nil
}

// with opens what has outputs, and the registry if that is needed, too.
func (l *logging) with(ctx context.Context, registryToo bool, do func(history.OutputReader, place) error) error {
	file := l.file()
	switch {
	case file == "":
		return l.conn.with(ctx, func(at place) error {
			if server, is := at.(*client.Namespace); is {
				return refusedIfDenied(do(server, at))
			}
			return misuse("no history is named: want --history, $%s, or --server and a server that was started with --history", historyVariable)
		})
	case registryToo:
		return l.conn.with(ctx, func(at place) error {
			return withHistory(ctx, file, func(kept history.OutputReader) error { return refusedIfDenied(do(kept, at)) })
		})
	default:
		return withHistory(ctx, file, func(kept history.OutputReader) error { return do(kept, nil) })
	}
}

// file is the history to read, rather than that of a server; empty if none is named.
func (l *logging) file() string { return l.conn.historyFile(l.history) }

// historyFile is the file of a history that a flag names or, unless a server is named, the environment.
func (c *connection) historyFile(flag string) string {
	if flag != "" || c.server != "" {
		return flag
	}
	return c.program.env(historyVariable)
}

// withHistory opens the file of a history for as long as do takes.
func withHistory(ctx context.Context, file string, do func(history.OutputReader) error) (err error) {
	if _, err := os.Stat(file); err != nil { // which opening would make
		return fmt.Errorf("history: %w", err)
	}
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return do(store)
}

// executionNamed finds an execution in the registry, by its item and when it began.
func executionNamed(ctx context.Context, at registry.Reader, of history.OutputQuery, begun string, now time.Time) (operate.ExecutionRow, error) {
	ns, err := operate.ReadJob(ctx, at, of.Job, now)
	if err != nil {
		return operate.ExecutionRow{}, err
	}
	if _, found := ns.State(of.Job); !found {
		return operate.ExecutionRow{}, missing(ctx, at, of.Job)
	}
	when, _ := time.Parse(time.RFC3339Nano, begun) // it was read before
	for _, row := range ns.Executions(of.Job) {
		if row.Item == *of.Item && row.Begin.Equal(when) {
			return row, nil
		}
	}
	return operate.ExecutionRow{}, fmt.Errorf("no execution of item %d of %q that began at %s: the registry keeps the last two of each item; "+
		"outputs of older ones are found by item/%s/%d and --last or --token, as far as the history has them", *of.Item, of.Job, begun, of.Job, *of.Item)
}

// readOutputs returns the outputs that match with their texts, the newest at the end.
func readOutputs(ctx context.Context, kept history.OutputReader, q history.OutputQuery) ([]wire.Output, error) {
	found, err := kept.Outputs(ctx, q)
	if err != nil {
		return nil, err
	}
	slices.Reverse(found)
	var all []wire.Output
	for _, o := range found {
		whole, err := kept.Output(ctx, o.Job, o.ID)
		if errors.Is(err, history.ErrNoOutput) {
			continue // it has just become too old
		}
		if err != nil {
			return nil, err
		}
		all = append(all, wire.OutputOf(whole))
	}
	return all, nil
}

// show prints outputs. Of an execution that wrote nothing there is none to print, so that is said beside.
func (l *logging) show(out, news io.Writer, found []wire.Output) error {
	for i := range found {
		found[i].Text = lastLines(found[i].Text, l.tail)
	}
	if l.output != formatTable {
		return l.output.write(out, wire.OutputList{Outputs: found})
	}
	var text strings.Builder
	for _, o := range found {
		if l.last > 1 {
			fmt.Fprintf(&text, "==> item %d, began %s, token %s <==\n", o.Item, o.Start.Format(time.RFC3339Nano), tokenText(o.Token))
		}
		text.WriteString(o.Text)
		if l.last > 1 && !strings.HasSuffix(o.Text, "\n") {
			text.WriteString("\n")
		}
	}
	shown := text.String()
	if o := found[0]; len(found) == 1 && o.Text == "" {
		_, _ = fmt.Fprintf(news, "item %d, began %s, wrote nothing\n", o.Item, o.Start.Format(time.RFC3339Nano))
	}
	if terminal(out) { // which a script could make show anything
		shown = printableLines(shown)
	}
	_, err := io.WriteString(out, shown)
	return err
}

// lastLines returns so many lines of the end of a text; 0 is all.
func lastLines(text string, most int) string {
	if most == 0 {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines[max(0, len(lines)-most):], "")
}
