package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/etcdflags"
	"github.com/elasticron/elasticron/registry"
)

// source is where jobs are copied from: a ZooKeeper ensemble, or an etcd cluster.
type source struct {
	servers []string
	user    string
	etcd    *etcdflags.Flags
}

func newSource(flags *pflag.FlagSet) *source {
	s := &source{etcd: etcdflags.New(flags, "from-etcd", "from-etcd-", passwordOfSource)}
	flags.StringSliceVar(&s.servers, "from", nil, "servers of the ZooKeeper ensemble, as host:port, separated by commas")
	flags.StringVar(&s.user, "from-user", "", "user of ZooKeeper's digest scheme; the password is that of $"+passwordOfSource)
	return s
}

func (s *source) open(ctx context.Context, p *program, namespace string) (registry.Registry, error) {
	switch {
	case len(s.servers) > 0 && s.etcd.Given():
		return nil, misuse("--from and --from-etcd are given: want one of them")
	case s.etcd.Given():
		return p.openEtcd(ctx, s.etcd, namespace, nil)
	case len(s.servers) == 0:
		return nil, misuse("--from is missing: want the servers of the ZooKeeper ensemble, such as zk1:2181")
	}
	if err := withoutTLS(s.etcd); err != nil {
		return nil, err
	}
	return p.openZooKeeper(ctx, s.servers, namespace, s.user, func() (string, error) {
		password := p.secret(passwordOfSource)
		if password == "" {
			return "", misuse("--from-user is given, and $%s is empty: want the password there", passwordOfSource)
		}
		return password, nil
	}, nil)
}
