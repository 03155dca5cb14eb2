package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/operate/jobfile"
	"github.com/elasticron/elasticron/registry"
)

func newEdit(p *program) *cobra.Command {
	var set []string
	var leaveFiles bool
	cmd := &cobra.Command{
		Use:   "edit JOB",
		Short: "Change the settings of a job, in an editor or by --set",
		Long: `Edit changes the settings that are stored: in the editor of $VISUAL or $EDITOR, or with --set,
by the names of docs/configuration.md. Values are JSON, or texts. props.NAME is one of the props,
and the others stay. What is not allowed is refused with the name of the setting, and so is a change
of settings that somebody else has changed meanwhile. It shows the difference and the next fires,
and asks, unless --yes is given.

With --leave-files it changes no setting: files of workers own them no more, until some name the job
again. So they can be those of another owner, also if the worker that had them is gone.`,
		Example: `  elasticron edit orders --set cron='0 0/2 * * * ?' --dry-run
  elasticron edit orders --set shardingTotalCount=4 --set description='four regions' --yes --reason 'more regions'
  elasticron edit orders --set props.http.method=POST --yes`,
		Args: cobra.ExactArgs(1),
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		job := bare("job", args[0])
		if leaveFiles {
			return v.leaveFiles(job, set)
		}
		was, err := stored(v.at).Get(v.ctx, jobtree.For(job).Config())
		if errors.Is(err, registry.ErrNotFound) {
			return statusError{exitRefused, errNoJob(job)} // as all other operations
		} else if err != nil {
			return err
		}
		text, elsewhere := was.Value, false
		if _, elsewhere = jobtree.DecodeElsewhere(was); !elsewhere { // else there are no settings here, and the operation says why
			if text, err = changed(v, jobtree.For(job), was.Value, set); err != nil {
				return err
			}
		}
		v.opens(job, was.Value, text)
		s := operate.Settings{Text: text, Shown: was.Revision, ShownText: was.Value}
		err = v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			return v.op.ChangeSettings(ctx, job, s, opts)
		})
		if unconfirmed := (*operate.UnconfirmedError)(nil); err != nil && !errors.As(err, &unconfirmed) && len(set) == 0 && !elsewhere {
			return kept(slipsOf(err, was.Value, text), text)
		}
		return err
	})
	v.asks = true
	secretsFlag(cmd.Flags(), &v.secrets)
	cmd.Flags().BoolVar(&leaveFiles, "leave-files", false, "have files of workers own the settings no more; not through a server")
	cmd.Flags().StringArrayVar(&set, "set", nil, "setting and value, such as cron='0 0/2 * * * ?'; may be repeated (default: an editor)")
	return cmd
}

// leaveFiles has a job be one of no files.
func (v *verb) leaveFiles(job string, set []string) error {
	op, is := v.op.(interface {
		GiveUpFiles(ctx context.Context, job string, opts operate.Options) (operate.Result, error)
	})
	switch {
	case len(set) > 0:
		return misuse("--leave-files changes no setting: want it without --set")
	case !is:
		return misuse("--leave-files does not go through a server: want a context with etcd or zookeeper")
	}
	return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
		return op.GiveUpFiles(ctx, job, opts)
	})
}

// changed returns the text of a configuration after flags or an editor changed it.
func changed(v *verb, tree jobtree.Tree, text string, set []string) (string, error) {
	if len(set) == 0 {
		return v.edited(text)
	}
	layout := jobtree.LayoutOfConfig(text)
	if layout == jobtree.ElasticJob3 { // which has the settings as YAML, and the class in another node
		var err error
		if text, err = plain(v, tree, text); err != nil {
			return "", err
		}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return "", fmt.Errorf("what is stored is no JSON, so --set cannot change it; use the editor: %w", err)
	}
	if members == nil { // of "null"
		return "", errors.New("what is stored is no object, so --set cannot change it; use the editor")
	}
	var names, added []string
	for _, s := range set {
		name, value, found := strings.Cut(s, "=")
		if !found || name == "" {
			return "", misuse("--set is %q, want a setting and a value, such as failover=true", s)
		}
		if prop, is := strings.CutPrefix(name, propsMember+"."); is {
			if prop == "" {
				return "", misuse("--set is %q, want the name of a prop after %s., such as %s.http.method=POST", s, propsMember, propsMember)
			}
			if err := setProp(members, prop, value); err != nil {
				return "", err
			}
			names = append(names, propsMember)
			continue
		}
		if _, is := members[name]; !is {
			added = append(added, name)
		}
		members[name] = valueOf(members[name], value)
		names = append(names, name)
	}
	all, err := json.Marshal(members)
	if err != nil {
		return "", err
	}
	node := registry.Node{Value: string(all)}
	c, err := jobtree.DecodeConfig(node)
	if err == nil {
		// What would be dropped, or kept, without a word.
		err = errors.Join(jobtree.CheckExact(node, names...), jobtree.CheckTyped(node, names...), checkAdded(c, added))
	}
	if err != nil {
		return "", usageError{err}
	}
	if text, err = layout.EncodeConfig(c); err != nil && layout == jobtree.ElasticJob3 {
		return "", usageError{err}
	}
	return text, err
}

// propsMember is the member of a configuration that has the settings of a kind of job, by names that may have dots.
const propsMember = "props"

// setProp sets one prop, which is a text whatever it looks like, and leaves the others as they are.
func setProp(members map[string]json.RawMessage, name, value string) error {
	props := make(map[string]json.RawMessage)
	if stored, is := members[propsMember]; is {
		if err := json.Unmarshal(stored, &props); err != nil || props == nil {
			return usageError{fmt.Errorf("--set cannot change one prop, as %s is no object; set it as a whole", propsMember)}
		}
	}
	text, _ := json.Marshal(value) // a string
	props[name] = text
	all, err := json.Marshal(props)
	members[propsMember] = all
	return err
}

// checkAdded refuses settings that were added and that nobody knows. Those of a later version may be there already; a slip
// of the pen is likelier in what somebody types.
func checkAdded(c job.Config, names []string) error {
	var unknown map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+c.Unknown+"}"), &unknown); err != nil {
		return err
	}
	for _, name := range names {
		if _, is := unknown[name]; is {
			return fmt.Errorf("--set names %q: a configuration has no such setting%s", name, asProp(name))
		}
	}
	return nil
}

// asProp says how to set what may be a prop, by its name. No other settings have names with dots.
func asProp(name string) string {
	if !strings.Contains(name, ".") {
		return ""
	}
	return fmt.Sprintf("; a prop is set by --set %s.%s=VALUE", propsMember, name)
}

// slipsOf says which settings of a text nobody knows that were not there before: a slip of the pen may be why another one is
// missing.
func slipsOf(refused error, before, after string) error {
	var had, has, unknown map[string]json.RawMessage
	if json.Unmarshal([]byte(before), &had) != nil || json.Unmarshal([]byte(after), &has) != nil {
		return refused
	}
	maps.DeleteFunc(has, func(name string, _ json.RawMessage) bool { _, is := had[name]; return is })
	added := slices.Collect(maps.Keys(has))
	maps.Copy(has, had) // with which it can be read
	all, err := json.Marshal(has)
	if err != nil {
		return refused
	}
	c, err := jobtree.DecodeConfig(registry.Node{Value: string(all)})
	if err != nil || json.Unmarshal([]byte("{"+c.Unknown+"}"), &unknown) != nil {
		return refused
	}
	added = slices.DeleteFunc(added, func(name string) bool { _, is := unknown[name]; return !is })
	if len(added) == 0 {
		return refused
	}
	slices.Sort(added)
	return fmt.Errorf("%w; a configuration has no such setting: %s", refused, strings.Join(added, ", "))
}

// plain returns, as JSON of ours, a configuration that ElasticJob 3.x has stored.
func plain(v *verb, tree jobtree.Tree, text string) (string, error) {
	root, err := stored(v.at).Get(v.ctx, tree.Root())
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return "", err
	}
	c, err := jobtree.ElasticJob3.DecodeConfig(root.Value, registry.Node{Path: tree.Config(), Value: text})
	if err != nil {
		return "", fmt.Errorf("--set cannot change what is stored; use the editor: %w", err)
	}
	return jobtree.EncodeConfig(c)
}

// valueOf reads a value as what the setting is: a text stays one, whatever it looks like.
func valueOf(was json.RawMessage, value string) json.RawMessage {
	isText := bytes.HasPrefix(was, []byte{'"'})
	if !isText && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	text, _ := json.Marshal(value) // a string
	return text
}

// edited has the user change a text in an editor of his own.
func (v *verb) edited(text string) (_ string, err error) {
	editor := v.program.env("VISUAL")
	if editor == "" {
		editor = v.program.env("EDITOR")
	}
	if editor == "" {
		return "", misuse("neither $VISUAL nor $EDITOR names an editor: set one of them, or use --set")
	}
	file, err := os.CreateTemp("", nameOf(text)) // for its owner alone
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	var pretty bytes.Buffer
	if json.Indent(&pretty, []byte(jobtree.Legible(text)), "", "  ") != nil {
		pretty.Reset()
		pretty.WriteString(text) // it is to be mended
	}
	_, err = file.Write(pretty.Bytes())
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	words := strings.Fields(editor)
	run := exec.CommandContext(v.life, words[0], append(words[1:], file.Name())...) //nolint:gosec // the user's own choice
	run.Stdin, run.Stdout, run.Stderr = v.in, v.out, v.news
	run.Cancel, run.WaitDelay = func() error { return run.Process.Signal(syscall.SIGTERM) }, editorLeaves
	broken := run.Run()
	after, err := os.ReadFile(file.Name())
	if err != nil {
		return "", errors.Join(broken, err)
	}
	if broken != nil {
		broken = fmt.Errorf("editor %s: %w", editor, broken)
		if !bytes.Equal(after, pretty.Bytes()) {
			broken = kept(broken, string(after))
		}
		return "", broken
	}
	v.waits()
	if bytes.Equal(bytes.TrimSpace(after), bytes.TrimSpace(pretty.Bytes())) {
		return "", errAborted
	}
	if jobtree.LayoutOfConfig(text) == jobtree.ElasticJob3 { // as it stands: the operation says whether it is allowed
		return string(after), nil
	}
	c, err := jobtree.DecodeConfig(registry.Node{Value: string(after)})
	if err != nil {
		return "", kept(slipsOf(err, text, string(after)), string(after))
	}
	return jobtree.EncodeConfig(c)
}

// editorLeaves is how long an editor has to put the terminal in order when the command is told to end.
const editorLeaves = 5 * time.Second

// kept keeps what somebody wrote in an editor and was not stored, as far as is known, for its owner alone, and says where.
func kept(refused error, text string) error {
	var pretty bytes.Buffer
	if json.Indent(&pretty, []byte(text), "", "  ") == nil {
		text = pretty.String()
	}
	file, err := os.CreateTemp("", nameOf(text))
	if err != nil {
		return refused
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return refused
	}
	return fmt.Errorf("%w; what you wrote is in %s", refused, file.Name())
}

// nameOf is the pattern of a file for a configuration, so that an editor knows what it is.
func nameOf(text string) string {
	if jobtree.LayoutOfConfig(text) == jobtree.ElasticJob3 {
		return "elasticron-*.yaml"
	}
	return "elasticron-*.json"
}

func newCreate(p *program) *cobra.Command {
	fileName := ""
	cmd := &cobra.Command{
		Use:     "create -f FILE",
		Short:   "Create the jobs of a file; refuse those that exist",
		Example: `  elasticron create -f new.yaml --reason 'for the new shop'`,
		Args:    cobra.NoArgs,
	}
	newVerb(p, cmd, func(v *verb, _ []string) error {
		return v.apply(fileName, func(ctx context.Context, _ registry.Node, job jobfile.Job, opts operate.Options) (operate.Result, error) {
			return v.op.CreateJob(ctx, job, opts)
		})
	})
	fileFlag(cmd, &fileName)
	return cmd
}

func newApply(p *program) *cobra.Command {
	fileName := ""
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Make jobs as a file says: create them, or change their settings",
		Long: `Apply creates the jobs of a file that the namespace does not have, and changes the settings of
the others, byte for byte as the file has them. Servers and items are disabled as the file says;
what it does not mention stays as it is, and so does whether an existing job is disabled. Each
change is an operation of its own. elasticron export writes such files, elasticron diff compares
them. It asks, unless --yes is given.`,
		Example: `  elasticron apply -f jobs.yaml --dry-run
  elasticron apply -f jobs.yaml --yes --force`,
		Args: cobra.NoArgs,
	}
	v := newVerb(p, cmd, func(v *verb, _ []string) error {
		return v.apply(fileName, func(ctx context.Context, was registry.Node, job jobfile.Job, opts operate.Options) (operate.Result, error) {
			return jobfile.Apply(ctx, v.op, was, job, opts)
		})
	})
	v.asks = true
	secretsFlag(cmd.Flags(), &v.secrets)
	fileFlag(cmd, &fileName)
	return cmd
}

// apply does something with each job of a file, after a question that shows what differs.
func (v *verb) apply(fileName string, do func(ctx context.Context, was registry.Node, job jobfile.Job, opts operate.Options) (operate.Result, error)) error {
	file, err := readJobs(fileName, v.in)
	if err != nil {
		return err
	}
	inFile := make(map[string]jobfile.Job)
	for _, job := range jobfile.Jobs(file) {
		inFile[job.Name] = job
	}
	nodes, revision, err := listStored(v.ctx, v.at, func(job string) bool { _, is := inFile[job]; return is })
	if err != nil {
		return err
	}
	differences := jobfile.Applied
	if v.secrets {
		differences = jobfile.AppliedWithSecrets
	}
	lines, stays := differences(file, nodes)
	changes := len(lines)
	for _, name := range slices.Sorted(maps.Keys(stays)) {
		is, by := "enabled", "disable"
		if stays[name] {
			is, by = "disabled", "enable"
		}
		lines = append(lines, fmt.Sprintf("! %s stays %s, other than in the file: elasticron %s job/%s changes that", name, is, by, name))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(v.news, printable(line)); err != nil {
			return err
		}
	}
	seen := registry.NewSnapshot(revision, nodes)
	names := namesIn(file)
	for path, text := range file.Nodes() {
		if name, _ := jobtree.Parse(path); name.Kind == jobtree.KindConfig && seen.Get(path).Exists() {
			v.opens(name.Job, seen.Get(path).Value, text)
		}
	}
	var apply ofJob = func(ctx context.Context, name string, opts operate.Options) (operate.Result, error) {
		return do(ctx, seen.Get(jobtree.For(name).Config()), inFile[name], opts)
	}
	if v.asks && !v.yes && !v.opts.DryRun && changes > 0 {
		if apply, _, err = v.planned(names, apply); err != nil { // the lines above show it
			return err
		}
		if err := v.ask(""); err != nil {
			return err
		}
	}
	return v.each(names, apply)
}
