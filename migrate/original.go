package migrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate/internal/elasticjob3"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// original is a job as the source has it.
type original struct {
	jobNodes
	format Format
	config job.Config
	// seen is the newest revision of the job's nodes, and bound the newest of the whole source.
	seen, bound registry.Revision
	flagged     []string // servers that were paused or stopped before 2.1
	// oneByOne are the servers that were disabled before the job was, which disabled all of them; nil if it was not so.
	oneByOne []string
	notes    []string
	// lost are the executions that are to be run again, by item.
	lost map[int]jobtree.Execution
}

// readOriginal reads a job from its nodes. The error says why it cannot be copied.
func readOriginal(name string, nodes []registry.Node, revision registry.Revision) (original, error) {
	o := original{jobNodes: nodesOf(name, nodes, revision), bound: revision}
	for _, n := range nodes {
		o.seen = max(o.seen, n.Revision)
	}
	o.bound = max(o.bound, o.seen)
	if err := o.readConfig(); err != nil {
		return o, err
	}
	switch {
	case o.config.Name != name:
		return o, fmt.Errorf("its config is of job %q", o.config.Name)
	case o.state.Tokens().Err != nil:
		return o, o.state.Tokens().Err
	}
	return o, nil
}

func (o *original) readConfig() error {
	tree := o.state.Tree()
	config, root := o.nodes[tree.Config()], o.nodes[tree.Root()]
	if err := o.made(); err != nil {
		return err
	}
	if !config.Exists() {
		return errors.New("it has no config node, and may be no job at all")
	}
	if isJSON(config.Value) {
		o.format = Format2
		stored := o.state.Config
		o.config = stored.Value
		if stored.Err == nil && stored.Value.Unknown != "" {
			o.note("kept as they are: config members that mean nothing here: %s", stored.Value.Unknown)
		}
		return stored.Err
	}
	read, err := elasticjob3.Decode(root.Value, config.Value)
	if err != nil {
		return err
	}
	o.format, o.config = Format3, read.Config
	if len(read.Kept) > 0 {
		o.note("kept in config.%s, where they mean nothing: %s", elasticjob3.Member, strings.Join(read.Kept, ", "))
	}
	return nil
}

// isJSON tells JSON from YAML, in whose flow style names need no quotes. An empty text is taken for
// JSON, whose faults are better told.
func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' {
		return text == ""
	}
	rest := strings.TrimSpace(text[1:])
	return rest == "" || rest[0] == '"' || rest[0] == '}'
}

// made tells of a tree that was made before 2.1, and not used by 2.1 since.
func (o *original) made() error {
	tree := o.state.Tree()
	var fields, former, present bool
	for path := range o.nodes {
		fields = fields || path != tree.Config() && registry.Within(path, tree.Config())
		former = former || registry.Within(path, tree.Root()+"/execution")
		present = present || registry.Within(path, tree.Sharding()) || registry.Within(path, tree.Instances())
	}
	switch {
	case o.nodes[tree.Config()].Value == "" && fields:
		return errors.New("its tree is of Elastic-Job 1.x, which is not read: move it to Elastic-Job-Lite 2.1 first, or declare the job anew")
	case former && !present:
		return errors.New("its tree is of Elastic-Job 2.0, which is not read: start it with Elastic-Job-Lite 2.1 first, or declare the job anew")
	default:
		return nil
	}
}

// finish completes the configuration, and notes what its reader should know of it. java tells that Java may have read the job.
func (o *original) finish(zone string, java bool) error {
	if o.config.TimeZone == "" {
		o.config.TimeZone = zone
	}
	judged := o.config
	judged.Unknown = "" // what is kept there has its own note
	warnings, err := jobtree.CheckConfig(o.state.Tree().Job(), judged)
	if err != nil {
		return err
	}
	if warnings != nil {
		o.note("runs, and should be looked at: %s", strings.ReplaceAll(warnings.Error(), "\n", "; "))
	}
	if o.config.TimeZone == "" && (java || o.format == Format3) {
		o.note("cron is read in UTC from now on; Java reads it in the time zone of its host")
	}
	if _, err := sharding.Default().Lookup(o.config.ShardingStrategy); err != nil {
		o.note("sharding strategy %s is none of ours: register one of that name", o.config.ShardingStrategy)
	}
	if o.config.Disabled && slices.ContainsFunc(o.state.Servers, func(s jobtree.Server) bool { return !s.Disabled }) {
		o.note("disabled stands over all servers from now on, also those that are enabled; in Java it only says how new servers start: enable the job to have it run")
	}
	o.noteCalls()
	o.heedOperators()
	o.heedFormerFlags()
	o.noteWork()
	o.findLost()
	return nil
}

// noteCalls notes how the calls of 3.x differ.
func (o *original) noteCalls() {
	_, said := o.config.Props["http.fail.on.status"]
	if o.format == Format3 && o.config.Type == job.TypeSimple && o.config.Class == elasticjob3.ClassHTTP && !said {
		o.note("an answer with status 400 or more is a failure from now on; Java takes it for a success, and so does the property http.fail.on.status=false")
	}
}

// heedOperators takes in which servers are disabled only because the job is: beside Java instances, an operation disables a job
// on all of its servers, and writes down which were before. In the target its configuration says it alone.
func (o *original) heedOperators() {
	operated := o.nodes[o.state.Tree().Operated()]
	if !operated.Exists() {
		return
	}
	all, err := jobtree.DecodeOperated(operated)
	if err != nil {
		o.note("what operators did cannot be read, so each server is copied as it is, also where all are disabled because the job is: %v", err)
		return
	}
	switch {
	case o.config.Disabled:
		o.oneByOne = all.DisabledServers
	case all.DisabledServers != nil:
		o.note("an operator disabled it, and its configuration, which somebody has written since, does not say so: each server is copied as it is")
	}
}

// formerFlags are what operators said of servers in Elastic-Job before 2.1: nodes below the server's. "stoped" is
// spelt so.
var formerFlags = []string{"disabled", "paused", "stoped", "shutdown"}

// heedFormerFlags has servers be disabled whose flags say that they are to be paused or stopped. A process writes its
// server's node whenever it starts, with 2.1 too, which does not heed the flags: those that are older were overtaken
// by that start, and are left out. A server that was stopped until its next start stays disabled as well; all processes
// start anew after a migration.
func (o *original) heedFormerFlags() {
	tree := o.state.Tree()
	var heeded, overtaken []string
	for path, node := range o.nodes {
		server, flag, found := strings.Cut(strings.TrimPrefix(path, tree.Servers()+"/"), "/")
		switch {
		case !found || !registry.Within(path, tree.Servers()) || !slices.Contains(formerFlags, flag):
		case node.Revision >= o.nodes[tree.Server(server)].Revision:
			heeded = append(heeded, server+" "+flag)
			o.flagged = append(o.flagged, server)
		default:
			overtaken = append(overtaken, server+" "+flag)
		}
	}
	if slices.Sort(heeded); len(heeded) > 0 {
		o.note("servers are disabled whose flags of Elastic-Job 1.x and 2.0 say that they are paused or stopped (%s): enable those that are to run",
			strings.Join(heeded, ", "))
	}
	if slices.Sort(overtaken); len(overtaken) > 0 {
		o.note("not copied: flags of Elastic-Job 1.x and 2.0 that are older than the last start of their server with 2.1, which does not heed them (%s): disable the servers, or the job, if that is still wanted",
			strings.Join(overtaken, ", "))
	}
}

// noteWork notes what of the source's work is given up.
func (o *original) noteWork() {
	var missed, surplus []int
	for n := range o.state.Items() {
		it := o.state.Item(n)
		switch {
		case n >= o.config.ShardingTotalCount:
			if it.Disabled {
				surplus = append(surplus, n)
			}
		case it.Misfire.Exists():
			missed = append(missed, n)
		}
	}
	o.noteItems("not copied: missed fires of items %s", missed)
	o.noteItems("not copied: disabled marks of items %s, which are beyond the sharding total count", surplus)
}

// noteItems notes what is to be said of items, if there are any.
func (o *original) noteItems(text string, items []int) {
	if len(items) > 0 {
		o.note(text, list(items))
	}
}

// running says what still goes on in the source; nil if nothing does.
func (o *original) running() error {
	var items []int
	for n := range o.state.Items() {
		if o.state.Item(n).Running.Exists() && !o.left(n) {
			items = append(items, n)
		}
	}
	var what []string
	if len(o.state.Instances) > 0 {
		var ids []string
		for _, i := range o.state.Instances {
			ids = append(ids, i.ID)
		}
		what = append(what, "live instances "+list(ids))
	}
	if len(items) > 0 {
		what = append(what, "executions of items "+list(items))
	}
	if len(what) == 0 {
		return nil
	}
	return fmt.Errorf("it is still running: %s", strings.Join(what, "; "))
}

func (o *original) note(format string, args ...any) {
	o.notes = append(o.notes, fmt.Sprintf(format, args...))
}

// maxListed bounds how many items or instances a text names.
const maxListed = 10

func list[T any](items []T) string {
	var texts []string
	for _, item := range items[:min(len(items), maxListed)] {
		texts = append(texts, fmt.Sprint(item))
	}
	text := strings.Join(texts, ", ")
	if more := len(items) - len(texts); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
