package main

import (
	"context"
	"io"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"slices"
	"sync"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// runCluster starts servers and does what it is asked to do with them. It never returns but by a fault.
func runCluster(set wire.Cluster) error {
	started, err := start(set)
	if err != nil {
		return err
	}
	server := rpc.NewServer()
	if err := server.RegisterName(wire.Service, started); err != nil {
		return err
	}
	server.ServeCodec(jsonrpc.NewServerCodec(struct {
		standardInput
		io.WriteCloser
	}{WriteCloser: os.Stdout}))
	return nil
}

func start(set wire.Cluster) (*servers, error) {
	s := &servers{calls: make(map[int64]call)}
	if set.Members == 0 {
		alone, err := embedded.Start(context.Background(), options(set)...)
		s.members = []*embedded.Server{alone}
		return s, err
	}
	cluster, err := embedded.StartCluster(context.Background(), set.Members, options(set)...)
	if err != nil {
		return nil, err
	}
	s.cluster, s.members = cluster, cluster.Members()
	return s, nil
}

func options(set wire.Cluster) []embedded.Option {
	var opts []embedded.Option
	if set.FastTest {
		opts = append(opts, embedded.WithFastTest())
	}
	if set.Heartbeat != 0 {
		opts = append(opts, embedded.WithHeartbeat(set.Heartbeat, set.Election))
	}
	if set.Quota != 0 {
		opts = append(opts, embedded.WithQuota(set.Quota))
	}
	if set.Retention != nil {
		opts = append(opts, embedded.WithRetention(*set.Retention))
	}
	if set.MaxTxnOps != 0 {
		opts = append(opts, embedded.WithMaxTxnOps(set.MaxTxnOps))
	}
	if set.CertFile != "" {
		opts = append(opts, embedded.WithTLS(set.CertFile, set.KeyFile, set.ClientCA))
	}
	if set.SeparateHTTP {
		opts = append(opts, embedded.WithSeparateHTTP())
	}
	return opts
}

// servers is what package net/rpc serves. Calls come concurrently.
type servers struct {
	cluster *embedded.Cluster // nil = a server alone
	members []*embedded.Server

	mu    sync.Mutex
	calls map[int64]call // those that may be cancelled, each from its begin or its cancellation on
}

type call struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// Endpoints answers with the URLs of all members, in order.
func (s *servers) Endpoints(_ wire.Call, urls *[]string) error {
	for _, m := range s.members {
		*urls = append(*urls, m.Endpoints()...)
	}
	return nil
}

// Stop stops a member in order.
func (s *servers) Stop(c wire.Call, _ *wire.Nothing) error {
	s.members[c.Member].Stop()
	return nil
}

// Kill stops a member as a crash would.
func (s *servers) Kill(c wire.Call, _ *wire.Nothing) error {
	s.members[c.Member].Kill()
	return nil
}

// Restart starts a member, and stops it first if it runs.
func (s *servers) Restart(c wire.Call, _ *wire.Nothing) error {
	call := s.call(c.ID)
	defer s.over(c.ID)
	return s.members[c.Member].Restart(call.ctx)
}

// RestartAll starts all members that do not run.
func (s *servers) RestartAll(c wire.Call, _ *wire.Nothing) error {
	call := s.call(c.ID)
	defer s.over(c.ID)
	return s.cluster.Restart(call.ctx)
}

// Leader answers with the member that leads, and waits for one.
func (s *servers) Leader(c wire.Call, member *int) error {
	call := s.call(c.ID)
	defer s.over(c.ID)
	leader, err := s.cluster.Leader(call.ctx)
	*member = slices.Index(s.members, leader)
	return err
}

// Cancel ends the context of another call, which may reach this process later.
func (s *servers) Cancel(c wire.Call, _ *wire.Nothing) error {
	s.call(c.ID).cancel()
	return nil
}

func (s *servers) call(id int64) call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, known := s.calls[id]
	if !known {
		c.ctx, c.cancel = context.WithCancel(context.Background())
		s.calls[id] = c
	}
	return c
}

func (s *servers) over(id int64) {
	s.call(id).cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
}
