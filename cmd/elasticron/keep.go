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
	did   bool  // something was removed, or may have been
	late  error // why the file is not as the jobs were at last
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
	k.begun, k.nodes = true, make(map[string][]registry.Node)
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
		k.nodes[job] = nodes
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
	for _, job := range k.jobs {
		nodes := k.nodes[job]
		text, err := seed.Export(nodes)
		i := slices.IndexFunc(nodes, func(n registry.Node) bool { return n.Path == jobtree.For(job).Config() })
		if err != nil && i >= 0 {
			_, _ = fmt.Fprintf(&all, "# %s\n# Its configuration was:\n# %s\n", oneLine(err.Error()), oneLine(nodes[i].Value))
		}
		all.Write(text)
	}
	if all.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("# Removed at %s. elasticron apply -f <this file> stores it again.\n", k.v.program.now().UTC().Format(time.RFC3339)) + all.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// correct replaces a configuration that was changed between the moment when it was kept and that of its removal. What a
// server answers has no secrets, so it is no better.
func (k *keeping) correct(job string, result operate.Result) {
	if _, server := k.v.at.(*client.Namespace); server || result.Before == "" {
		return
	}
	path := jobtree.For(job).Config()
	i := slices.IndexFunc(k.nodes[job], func(n registry.Node) bool { return n.Path == path })
	if i < 0 || k.nodes[job][i].Value == result.Before || k.file == "" {
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
	_, err := fmt.Fprintf(to, "Kept in %s: elasticron apply -f stores it again.\n", printable(k.file))
	return errors.Join(k.late, err)
}
