//go:build linux

package process_test

import (
	"context"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// The kinds of stores.
const (
	onEtcd      = "etcd"
	onZooKeeper = "ZooKeeper"
)

// place is where a process finds its registry.
type place struct {
	Kind      string
	Addresses []string // of the store's servers
	Namespace string
	TTL       time.Duration // of the session; 0 = the backend's default
}

// handle is a registry that can go without a word.
type handle interface {
	registry.Registry
	Vanish()
}

func (p place) open(ctx context.Context, log *slog.Logger) (handle, error) {
	if p.Kind == onZooKeeper {
		return zkcompat.Open(ctx, zkcompat.Config{
			Servers: p.Addresses, Namespace: p.Namespace, SessionTimeout: p.TTL,
			ConnectionTimeout: patience, Logger: log,
		})
	}
	return etcd.Open(ctx, etcd.Config{
		Endpoints: urls(p.Addresses), Namespace: p.Namespace, SessionTTL: p.TTL,
		DialTimeout: patience, Logger: log,
	})
}

func urls(addresses []string) []string {
	var all []string
	for _, a := range addresses {
		all = append(all, "http://"+a)
	}
	return all
}
