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
// not administer, so that nothing is hidden unnoticed: then it is asked for each of the wanted jobs. So is ZooKeeper, where a
// job may belong to another user: it keeps nobody from the others.
func listStored(ctx context.Context, at place, wanted func(job string) bool) ([]registry.Node, registry.Revision, error) {
	all, revision, err := stored(at).List(ctx, registry.Root)
	if !errors.Is(err, registry.ErrDenied) {
		return all, revision, err
	}
	if _, server := at.(*client.Namespace); !server {
		return listEach(ctx, at, wanted)
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

// listEach lists the wanted jobs one by one. All commits up to the revision are in what they show.
func listEach(ctx context.Context, at registry.Reader, wanted func(job string) bool) ([]registry.Node, registry.Revision, error) {
	_, revision, err := at.List(ctx, nobodyWrites)
	if err != nil {
		return nil, 0, err
	}
	names, err := at.Children(ctx, registry.Root)
	if err != nil {
		return nil, 0, err
	}
	var all []registry.Node
	for _, job := range names {
		if !wanted(job) {
			continue
		}
		nodes, _, err := at.List(ctx, jobtree.For(job).Root())
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
