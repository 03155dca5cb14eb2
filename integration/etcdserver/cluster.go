package etcdserver

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
)

// Cluster is several servers in one process that form one store, for tests of what happens when
// members fail. Stop, kill and restart its members one by one through [Cluster.Members].
type Cluster struct {
	process *process
	members []*Server
}

// StartCluster starts n members and returns when all are ready. The context bounds the start only, and
// may end while the program is built for the first time. On an error nothing is left behind.
func StartCluster(ctx context.Context, n int, opts ...Option) (*Cluster, error) {
	if n < 1 {
		return nil, fmt.Errorf("start etcd: a cluster of %d members", n)
	}
	return launch(ctx, n, opts)
}

// launch starts a process and waits for its servers: n members of a cluster, or with 0 one alone.
func launch(ctx context.Context, n int, opts []Option) (*Cluster, error) {
	settings := wire.Cluster{Members: n}
	for _, opt := range opts {
		opt(&settings)
	}
	p, err := start(settings)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	kill := context.AfterFunc(ctx, func() { _ = p.Kill() })
	var endpoints []string
	err = p.ask(ctx, wire.Endpoints, 0, &endpoints)
	if !kill() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = p.close() // what it has to say is in the error
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	c := &Cluster{process: p}
	for i, endpoint := range endpoints {
		c.members = append(c.members, &Server{process: p, member: i, endpoint: endpoint})
	}
	return c, nil
}

// Members returns the servers, running or not.
func (c *Cluster) Members() []*Server { return c.members }

// Endpoints returns the clients' URLs of all members.
func (c *Cluster) Endpoints() []string {
	var all []string
	for _, m := range c.members {
		all = append(all, m.Endpoints()...)
	}
	return all
}

// Leader returns the member that leads, and waits for one while there is none.
func (c *Cluster) Leader(ctx context.Context) (*Server, error) {
	var member int
	if err := c.process.ask(ctx, wire.Leader, 0, &member); err != nil {
		return nil, err
	}
	return c.members[member], nil
}

// Restart starts all members that do not run, together, because none is ready before a majority is.
func (c *Cluster) Restart(ctx context.Context) error {
	return c.process.ask(ctx, wire.RestartAll, 0, new(wire.Nothing))
}

// Close ends the process of all members and removes their data, as [Server.Close] does.
func (c *Cluster) Close() error { return c.process.close() }
