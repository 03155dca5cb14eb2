package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

// The values of --export that are no file.
const (
	keepInOutput = "-"
	keepNothing  = "none"
)

// keeping writes jobs that are removed to a file, from which they can be stored again: with a job goes all that the
// registry knows of it, also who removed it. The file is there before anything is removed.
type keeping struct {
	v    *verb
	to   string // as the flag has it
	jobs []string

	mu    sync.Mutex
	begun bool
	err   error // why nothing was kept, and nothing is removed
	file  string
	nodes map[string][]registry.Node
	read  map[string]string // the configurations as they were found, by job
	out   []string          // jobs that apply cannot store again
	did   bool              // something was removed, or may have been
	late  error             // why the file is not as the jobs were at last
}

// removes returns what removes a job after it was kept.
func (k *keeping) removes(remove ofJob) ofJob {
	return func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
		if opts.DryRun {
			return remove(ctx, job, opts)
		}
		if err := k.begin(ctx); err != nil {
			return operate.Result{}, fmt.Errorf("nothing was removed, as the jobs cannot be kept first (see --export): %w", err)
		}
		result, err := remove(ctx, job, opts)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.did = k.did || k.mayBeGone(job, err)
		k.correct(job, result)
		return result, err
	}
}

// mayBeGone tells whether something of a job may have been removed, by what its removal returned. One that is refused has
// removed nothing, unless it had begun; and that there is no such job, which there was when it was kept, may be our doing, if
// an answer was lost.
func (k *keeping) mayBeGone(job string, err error) bool {
	var unconfirmed *operate.UnconfirmedError
	cause, refused := operate.IsRefused(err)
	return !refused || errors.As(err, &unconfirmed) || cause == operate.CauseUnknownJob && len(k.nodes[job]) > 0
}

// begin keeps all the jobs, once.
func (k *keeping) begin(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.begun || k.to == keepNothing {
		return k.err
	}
	k.begun, k.nodes, k.read = true, make(map[string][]registry.Node), make(map[string]string)
	k.err = k.keep(ctx)
	return k.err
}

func (k *keeping) keep(ctx context.Context) error {
	for _, job := range k.jobs {
		if err := registry.CheckPath(jobtree.For(job).Root()); err != nil {
			continue // the operation says what is wrong with the name
		}
		nodes, _, err := stored(k.v.at).List(ctx, jobtree.For(job).Root())
		if err != nil {
			return err
		}
		if i := configIn(nodes, job); i >= 0 {
			k.read[job] = nodes[i].Value
		}
		k.nodes[job] = beforeRemoval(job, nodes)
	}
	text := k.text()
	switch {
	case text == "":
		return nil
	case k.to == keepInOutput:
		_, err := io.WriteString(k.v.out, text)
		return err
	case k.to != "":
		return k.create(k.to, text)
	}
	contexts, err := k.v.program.contextsFile()
	if err != nil {
		return err
	}
	folder := filepath.Join(filepath.Dir(contexts), "removed")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	name := k.v.program.now().UTC().Format("20060102T150405Z")
	for n := 1; ; n++ {
		err := k.create(filepath.Join(folder, fmt.Sprintf("%s-%d.yaml", name, n)), text)
		if !errors.Is(err, os.ErrExist) {
			return err
		}
	}
}

// create writes a new file, which is on the disk when it returns.
func (k *keeping) create(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	k.file = name
	return nil
}

// text is the file. What seed cannot read stands in it as a comment.
func (k *keeping) text() string {
	var all strings.Builder
	k.out = nil
	for _, job := range k.jobs {
		nodes := k.nodes[job]
		text, err := seed.Export(nodes)
		i := configIn(nodes, job)
		doubts := error(nil)
		if err == nil && i >= 0 {
			doubts = doubtsOf(nodes[i], job)
		}
		if err != nil || doubts != nil {
			k.out = append(k.out, job)
		}
		if doubts != nil {
			all.WriteString(texts.Comment(fmt.Sprintf("elasticron apply refuses %s, and elasticron seed stores it: %s", job, oneLine(doubts.Error()))))
		}
		if err != nil && i >= 0 {
			all.WriteString(texts.Comment(oneLine(err.Error()) + "\nIts configuration was:\n" + nodes[i].Value))
		}
		all.Write(text)
	}
	if all.Len() == 0 {
		return ""
	}
	but := ""
	if len(k.out) > 0 {
		but = ", but for the jobs that comments name"
	}
	return fmt.Sprintf("# Removed at %s. elasticron apply -f <this file> stores it again%s.\n", k.v.program.now().UTC().Format(time.RFC3339), but) + all.String()
}

// doubtsOf are the reasons why a configuration with which a job has run cannot be declared.
func doubtsOf(config registry.Node, job string) error {
	c, err := jobtree.DecodeConfig(config)
	if err != nil {
		return nil // a job in another registry, of which nothing is kept
	}
	c.Unknown = "" // which members nobody knows is no reason
	doubts, _ := jobtree.CheckConfig(job, c)
	return errors.Join(doubts, jobtree.CheckTyped(config))
}

// configIn returns where among nodes the configuration of a job is; -1 = it is not.
func configIn(nodes []registry.Node, job string) int {
	return slices.IndexFunc(nodes, func(n registry.Node) bool { return n.Path == jobtree.For(job).Config() })
}

// beforeRemoval returns the nodes of a job as they were before a removal that was interrupted: that has disabled the job first.
func beforeRemoval(job string, nodes []registry.Node) []registry.Node {
	tree := jobtree.For(job)
	at := slices.IndexFunc(nodes, func(n registry.Node) bool { return n.Path == tree.Operated() })
	i := configIn(nodes, job)
	if at < 0 || i < 0 {
		return nodes
	}
	operated, err := jobtree.DecodeOperated(nodes[at])
	if err != nil || operated.Removing == "" {
		return nodes
	}
	nodes = slices.Clone(nodes)
	for _, op := range slices.Backward(operated.Operations) {
		if op.Before == "" {
			continue // it did not change the configuration
		}
		if op.Verb != string(operate.VerbRemove) {
			break
		}
		nodes[i].Value = op.Before
	}
	if operated.DisabledServers == nil {
		return nodes
	}
	return slices.DeleteFunc(nodes, func(n registry.Node) bool {
		name, known := jobtree.Parse(n.Path)
		disabled, _ := jobtree.DecodeServer(n)
		return known && name.Kind == jobtree.KindServer && disabled && !slices.Contains(operated.DisabledServers, name.Key)
	})
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// correct replaces a configuration that was changed between the moment when it was kept and that of its removal. What a
// server answers has no secrets, so it is no better.
func (k *keeping) correct(job string, result operate.Result) {
	if _, server := k.v.at.(*client.Namespace); server || result.Before == "" {
		return
	}
	i := configIn(k.nodes[job], job)
	if i < 0 || k.read[job] == result.Before || k.file == "" {
		return
	}
	k.nodes[job][i].Value = result.Before
	kept := k.file
	err := k.create(kept+".new", k.text())
	if err == nil {
		err = os.Rename(kept+".new", kept)
	}
	k.file, k.late = kept, errors.Join(k.late, err)
}

// end says where the jobs are kept; nowhere if nothing was removed.
func (k *keeping) end() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.file == "":
		return nil
	case !k.did:
		return os.Remove(k.file)
	}
	to := k.v.out
	if k.v.output != formatTable {
		to = k.v.news
	}
	text := fmt.Sprintf("Kept in %s: elasticron apply -f stores it again.\n", printable(k.file))
	if len(k.out) > 0 {
		text = fmt.Sprintf("Kept in %s: elasticron apply -f stores it again, but for the jobs that comments name there: %s.\n",
			printable(k.file), printable(strings.Join(k.out, ", ")))
	}
	_, err := io.WriteString(to, text)
	return errors.Join(k.late, err)
}
