package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// Cluster is several servers in this process that form one store, for tests of what happens when
// members fail. Stop, kill and restart its members one by one through [Cluster.Members].
type Cluster struct{ members []*Server }

// StartCluster starts n members and returns when all are ready. The options are those of [Start]; a
// folder holds one subfolder a member.
func StartCluster(ctx context.Context, n int, opts ...Option) (*Cluster, error) {
	o, err := newOptions(opts)
	switch {
	case err != nil:
		return nil, err
	case n < 1:
		return nil, fmt.Errorf("%w: a cluster of %d members", ErrInvalidOption, n)
	case o.address != "" || o.httpAddress != "":
		return nil, fmt.Errorf("%w: a cluster chooses its addresses itself", ErrInvalidOption)
	}
	members, err := startTogether(ctx, o, n)
	if err != nil {
		return nil, fmt.Errorf("start embedded etcd cluster: %w", err)
	}
	return &Cluster{members: members}, nil
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
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		for _, m := range c.members {
			if m.leading() {
				return m, nil
			}
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a leader: %w", context.Cause(ctx))
		}
	}
}

// Restart starts all members that do not run, together, because none is ready before a majority is.
func (c *Cluster) Restart(ctx context.Context) error {
	var starting errgroup.Group
	for _, m := range c.members {
		if !m.Running() {
			starting.Go(func() error { return m.Restart(ctx) })
		}
	}
	return starting.Wait()
}

// Close closes every member, as [Server.Close] does. Connections between members are given up by
// etcd's own timeout; some goroutines of theirs end up to 5 s later.
func (c *Cluster) Close() error {
	var faults []error
	for _, m := range c.members {
		m.Kill()
	}
	for _, m := range c.members {
		faults = append(faults, m.Close())
	}
	return errors.Join(faults...)
}
