package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/operate/jobfile"
	"github.com/elasticron/elasticron/registry"
)

// place is the namespace that a command is about: a registry, or a server in front of one.
type place interface {
	registry.Reader
	Close(context.Context) error
}

var (
	_ place      = registry.Registry(nil)
	_ place      = (*client.Namespace)(nil)
	_ operations = jobfile.Direct{}
	_ operations = (*client.Namespace)(nil)
)

// stored returns what reads the secrets of a place, too.
func stored(at place) registry.Reader {
	if server, is := at.(*client.Namespace); is {
		return server.WithSecrets()
	}
	return at
}

// listStored lists jobs with their secrets. A server refuses the whole namespace to somebody who reads jobs that they may
// not administer, so that nothing is hidden unnoticed: then it is asked for each of the wanted jobs.
func listStored(ctx context.Context, at place, wanted func(job string) bool) ([]registry.Node, registry.Revision, error) {
	all, revision, err := stored(at).List(ctx, registry.Root)
	if !errors.Is(err, registry.ErrDenied) {
		return all, revision, err
	}
	shown, revision, err := at.List(ctx, registry.Root)
	if err != nil {
		return nil, 0, err
	}
	read := make(map[string]bool)
	for _, n := range shown {
		job := operate.JobOf(n.Path)
		if job == "" || read[job] || !wanted(job) {
			continue
		}
		read[job] = true
		nodes, _, err := stored(at).List(ctx, jobtree.For(job).Root())
		if err != nil {
			return nil, 0, err
		}
		all = append(all, nodes...)
	}
	slices.SortFunc(all, func(a, b registry.Node) int { return strings.Compare(a.Path, b.Path) })
	return all, revision, nil
}

// operations are what commands do to a namespace, directly or through a server.
type operations interface {
	jobfile.Operations
	Match(ctx context.Context, pattern string) ([]string, error)
	DisableJob(ctx context.Context, job string, opts operate.Options) (operate.Result, error)
	EnableJob(ctx context.Context, job string, opts operate.Options) (operate.Result, error)
	EnableItem(ctx context.Context, job string, item int, opts operate.Options) (operate.Result, error)
	DisableServerEverywhere(ctx context.Context, ip string, opts operate.Options) ([]operate.JobResult, error)
	EnableServerEverywhere(ctx context.Context, ip string, opts operate.Options) ([]operate.JobResult, error)
	ShutDown(ctx context.Context, job, instance string, opts operate.Options) (operate.Result, error)
	ShutDownEverywhere(ctx context.Context, instance string, opts operate.Options) ([]operate.JobResult, error)
	GiveUp(ctx context.Context, job string, item int, opts operate.Options) (operate.Result, error)
	TidyServers(ctx context.Context, job string, ips []string, opts operate.Options) (operate.Result, error)
	Reshard(ctx context.Context, job string, opts operate.Options) (operate.Result, error)
	RollBack(ctx context.Context, job, operation string, opts operate.Options) (operate.Result, error)
	Remove(ctx context.Context, job string, opts operate.Options) (operate.Result, error)
	Trigger(ctx context.Context, job string, t operate.Trigger, opts operate.Options) (operate.Result, error)
	Backfill(ctx context.Context, job string, fires []time.Time, t operate.Trigger, opts operate.Options) (operate.BackfillResult, error)
	Fires(ctx context.Context, job string, from, to time.Time) ([]time.Time, error)
}

// operating returns what operates a place. who and how are written down with each operation; a server knows who asks.
func operating(at place, who, how string) (operations, error) {
	if server, is := at.(*client.Namespace); is {
		return server, nil
	}
	store := at.(operate.Store) // every registry is one
	op, err := operate.New(store, operate.By(who, how))
	if err != nil {
		return nil, err
	}
	return jobfile.Direct{Operator: op, Store: store}, nil
}

// follower shows a namespace as it changes.
type follower interface {
	// now returns the newest state that is known.
	now() registry.Snapshot
	// newer returns when there is a newer state than the one that now returned last, or the context ends.
	newer(ctx context.Context) error
	close()
}

// following follows a place.
func following(ctx context.Context, at place) (follower, error) {
	if server, is := at.(*client.Namespace); is {
		nodes, revision, err := server.List(ctx, registry.Root)
		if err != nil {
			return nil, err
		}
		f := &byServer{server: server, shown: registry.NewSnapshot(revision, nodes)}
		f.ctx, f.cancel = context.WithCancel(ctx)
		return f, nil
	}
	if all, is := at.(*registries); is {
		return all.follow(ctx)
	}
	view, err := at.(registry.Viewer).View(ctx, registry.Root)
	if err != nil {
		return nil, err
	}
	return &byView{view: view}, nil
}

// byView follows a registry.
type byView struct {
	view  *registry.View
	shown registry.Revision
}

func (f *byView) now() registry.Snapshot {
	s := f.view.Snapshot()
	f.shown = s.Revision()
	return s
}

func (f *byView) newer(ctx context.Context) error {
	_, err := f.view.WaitFor(ctx, func(s registry.Snapshot) bool { return s.Revision() != f.shown })
	return err
}

func (f *byView) close() { f.view.Close() }

// byServer asks a server, which answers when something has changed. An answer may take longer to come than one call of
// newer lasts, so it is awaited by the next one, too.
type byServer struct {
	server *client.Namespace
	shown  registry.Snapshot
	ctx    context.Context //nolint:containedctx // until close
	cancel context.CancelFunc
	asked  chan answer // nil: nothing is
}

type answer struct {
	shown registry.Snapshot
	err   error
}

func (f *byServer) now() registry.Snapshot { return f.shown }

func (f *byServer) newer(ctx context.Context) error {
	if f.asked == nil {
		f.asked = make(chan answer, 1)
		go func(asked chan<- answer, than registry.Revision) {
			nodes, revision, err := f.server.Newer(f.ctx, than)
			asked <- answer{registry.NewSnapshot(revision, nodes), err}
		}(f.asked, f.shown.Revision())
	}
	select {
	case got := <-f.asked:
		f.asked = nil
		if got.err == nil {
			f.shown = got.shown
		}
		return got.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *byServer) close() {
	f.cancel()
	if f.asked != nil {
		<-f.asked
	}
}
