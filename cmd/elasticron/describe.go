package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/cronexpr/words"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func newDescribe(p *program) *cobra.Command {
	var output format
	var history string
	secrets := false
	cmd := &cobra.Command{
		Use:   "describe KIND/NAME",
		Short: "Tell everything about a job, a server, an instance or an execution",
		Long: `Describe tells what lists have no room for: of a job its settings, its items and their last
executions, and every reason why it is not as it should be; of a server or an instance, the
jobs in which it has a part; of an execution, as get executions -o name names it, also what it
wrote, if that is in a history: see elasticron logs. Settings of a job that may hold secrets are
hidden.`,
		Example: `  elasticron describe job/orders
  elasticron describe server/10.0.0.1
  elasticron describe instance/10.0.0.1@-@7-a
  elasticron describe execution/orders/0/2026-03-02T12:00:00.02Z`,
		Args: cobra.ExactArgs(1),
	}
	var conn *connection
	conn = reading(p, cmd, func(cmd *cobra.Command, args []string, at place) error {
		d, err := describe(cmd, args[0], at, p.now(), conn.historyFile(history), secrets)
		if err != nil {
			return err
		}
		if output != formatTable {
			return output.write(cmd.OutOrStdout(), d.value)
		}
		_, err = io.WriteString(cmd.OutOrStdout(), d.text)
		return err
	})
	historyFlag(cmd.Flags(), &history)
	secretsFlag(cmd.Flags(), &secrets)
	outputFlag(cmd.Flags(), &output, formatJSON, formatYAML)
	completes(cmd, conn, targetNames(listJobs(), listServers(), listInstances(), listExecutions()))
	return cmd
}

// description is one thing with everything about it, in both forms.
type description struct {
	text  string
	value any
}

var errKinds = errors.New("want job/NAME, server/IP, instance/ID or " + executionShape)

func describe(cmd *cobra.Command, what string, reg place, now time.Time, history string, secrets bool) (description, error) {
	kind, name, found := strings.Cut(what, "/")
	if !found || name == "" {
		meant := ""
		if !found && name == "" && kind != "" {
			meant = fmt.Sprintf("; did you mean job/%s?", kind)
		}
		return description{}, usageError{fmt.Errorf("%q: %w%s", what, errKinds, meant)}
	}
	read := func() (*operate.Namespace, error) { return operate.ReadNamespace(cmd.Context(), reg, now) }
	isJob := kind == "job" || kind == "jobs" || kind == "j"
	if secrets && !isJob {
		return description{}, misuse("--secrets is for jobs: nothing else that is described has hidden settings")
	}
	switch kind {
	case "job", "jobs", "j":
		from := registry.Reader(reg)
		if secrets {
			from = stored(reg)
		}
		ns, err := operate.ReadJob(cmd.Context(), from, name, now)
		if err != nil {
			return description{}, err
		}
		if _, found := ns.State(name); !found {
			return description{}, missing(cmd.Context(), reg, name)
		}
		settings := ns.Settings
		if secrets {
			settings = ns.SettingsWithSecrets
		}
		return describeJob(ns, name, settings)
	case "server", "servers":
		ns, err := read()
		if err != nil {
			return description{}, err
		}
		return describeServer(ns, name)
	case "instance", "instances":
		ns, err := read()
		if err != nil {
			return description{}, err
		}
		return describeInstance(ns, name)
	case "execution", "executions":
		return describeExecution(cmd.Context(), what, reg, now, history)
	default:
		return description{}, usageError{fmt.Errorf("%q: %w", what, errKinds)}
	}
}

// errNoJob is the error of a job that there is not.
func errNoJob(name string) error { return noJobError{name} }

// noJobError is the error of a job that is not there.
type noJobError struct{ name string }

func (e noJobError) Error() string { return fmt.Sprintf("no job %q", e.name) }

// missing is the error of a job that is not there: it says where it is, if that is known.
func missing(ctx context.Context, at registry.Reader, name string) error {
	if err := movedJob(ctx, at, name); err != nil {
		return err
	}
	return errNoJob(name)
}

// movedJob is the error of a job whose home is another registry; nil if nothing says so.
func movedJob(ctx context.Context, at registry.Reader, name string) error {
	n, err := at.Get(ctx, jobtree.For(name).Config())
	switch e, elsewhere := jobtree.DecodeElsewhere(n); {
	case err != nil || !elsewhere:
		return nil
	case e.Arriving:
		return fmt.Errorf("no job %q here yet: it is being moved here from registry %q", name, e.Home)
	default:
		return fmt.Errorf("no job %q here: its home is registry %q", name, e.Home)
	}
}

// describeJob describes a job with its settings, as the function returns them.
func describeJob(ns *operate.Namespace, name string, settings func(job string) map[string]any) (description, error) {
	row, found := ns.Job(name)
	if !found {
		return description{}, errNoJob(name)
	}
	st, _ := ns.State(name)
	items, now := ns.Items(name), ns.Time()
	var p page
	p.field("Name", row.Job)
	p.field("Status", row.Shown())
	for _, r := range row.Reasons {
		p.field("", string(r.Word)+": "+r.Text)
	}
	p.field("Description", row.Description)
	p.field("Class", row.Class)
	p.field("Type", row.Type)
	p.field("Cron", row.Cron)
	if text, err := words.Describe(row.Cron); err == nil {
		p.field("", text)
	}
	p.field("Time zone", zoneOf(row.TimeZone))
	p.field("Next", nextOf(row, now))
	p.field("Last", lastOf(row, now))
	p.field("Leader", orDash(row.Leader))
	p.field("Items", fmt.Sprintf("%d, %d running, %d waiting, %d overdue, %d disabled",
		row.Items, row.RunningItems, row.WaitingItems, row.OverdueItems, row.DisabledItems))
	p.field("Config", fmt.Sprintf("revision %d", row.Revision))
	p.settings(settings(name))
	if len(items) > 0 {
		l := listItems()
		table := [][]string{slices.Concat(l.header[1:], []string{"REASON"})}
		for _, r := range items {
			cells := itemListed(r, now).cells
			table = append(table, slices.Concat(cells[1:len(l.header)], cells[len(cells)-1:]))
		}
		p.table("Items", table)
	}
	members := [][]string{{"NAME", "STATUS"}}
	for _, in := range st.Instances {
		status := operate.OK
		if !st.ServerEnabled(jobtree.ServerOf(in.ID)) {
			status = operate.Disabled
		}
		members = append(members, []string{in.ID, string(status)})
	}
	if len(members) > 1 {
		p.table("Instances", members)
	}
	return description{p.String(), struct {
		operate.JobRow
		Settings   map[string]any         `json:"settings,omitempty"`
		ItemRows   []operate.ItemRow      `json:"item_rows"`
		Executions []operate.ExecutionRow `json:"executions,omitempty"`
	}{row, settings(name), items, ns.Executions(name)}}, nil
}

func zoneOf(name string) string {
	if name == "" {
		return "UTC"
	}
	return name
}

func describeServer(ns *operate.Namespace, ip string) (description, error) {
	rows := ns.Servers()
	i := slices.IndexFunc(rows, func(r operate.ServerRow) bool { return r.Server == ip })
	if i < 0 {
		return description{}, fmt.Errorf("no server %q: no instance lives there, and no job says anything of it", ip)
	}
	row := rows[i]
	var p page
	p.field("Name", row.Server)
	p.field("Status", row.Shown())
	for _, r := range row.Reasons {
		p.field("", r.Text)
	}
	p.field("Instances", orDash(strings.Join(row.Instances, ", ")))
	table := [][]string{{"JOB", "STATUS", "INSTANCES", "ITEMS"}}
	for _, name := range row.Jobs {
		status := string(operate.OK)
		if slices.Contains(row.Disabled, name) {
			status = string(operate.Disabled)
		}
		st, _ := ns.State(name)
		lives, owns := 0, 0
		for _, in := range st.Instances {
			if jobtree.ServerOf(in.ID) == ip {
				lives++
			}
		}
		for n := range st.Total() {
			if jobtree.ServerOf(st.Owner(n)) == ip {
				owns++
			}
		}
		table = append(table, []string{name, status, fmt.Sprint(lives), fmt.Sprint(owns)})
	}
	p.table("Jobs", table)
	return description{p.String(), row}, nil
}

func describeInstance(ns *operate.Namespace, id string) (description, error) {
	rows := ns.Instances()
	i := slices.IndexFunc(rows, func(r operate.InstanceRow) bool { return r.Instance == id })
	if i < 0 {
		return description{}, fmt.Errorf("no instance %q lives", id)
	}
	row := rows[i]
	var p page
	p.field("Name", row.Instance)
	p.field("Server", row.Server)
	p.field("Status", row.Shown())
	for _, r := range row.Reasons {
		p.field("", r.Text)
	}
	table := [][]string{{"JOB", "LEADS", "ITEMS"}}
	for _, name := range row.Jobs {
		st, _ := ns.State(name)
		var items []string
		for n := range st.Total() {
			if st.Owner(n) == id {
				items = append(items, fmt.Sprint(n))
			}
		}
		leads := "no"
		if st.Leader.Instance == id {
			leads = "yes"
		}
		table = append(table, []string{name, leads, orDash(strings.Join(items, ","))})
	}
	p.table("Jobs", table)
	return description{p.String(), row}, nil
}

// page is a text of fields and tables.
type page struct{ text strings.Builder }

// field adds a line; a name that is empty goes on with what is above.
func (p *page) field(name, value string) {
	if value == "" {
		return
	}
	if name != "" {
		name += ":"
	}
	fmt.Fprintf(&p.text, "%-13s %s\n", name, printable(value))
}

func (p *page) table(title string, rows [][]string) {
	p.text.WriteString(title + ":\n")
	for line := range strings.Lines(tableOf(rows)) {
		p.text.WriteString("  " + line)
	}
}

// settings adds what of the configuration is no default, but for what the page has already.
func (p *page) settings(settings map[string]any) {
	for _, shown := range []string{"jobName", "jobClass", "jobType", "cron", "description", "timeZone"} {
		delete(settings, shown)
	}
	if len(settings) == 0 {
		return
	}
	rows := [][]string{}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		members, several := settings[name].(map[string]any)
		if !several {
			rows = append(rows, []string{name, fmt.Sprint(settings[name])})
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			rows = append(rows, []string{name + "." + member, fmt.Sprint(members[member])})
		}
	}
	p.table("Settings", rows)
}

func (p *page) String() string { return p.text.String() }
