package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/etcdflags"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// connection is the flags that say which namespace of which registry a command is about.
type connection struct {
	program   *program
	context   string
	zooKeeper []string
	namespace string
	etcd      *etcdflags.Flags
}

func newConnection(p *program, flags *pflag.FlagSet) *connection {
	c := &connection{program: p}
	flags.StringVar(&c.context, "context", "", "context to use (default: $"+contextVariable+", else the one chosen by elasticron context use)")
	c.etcd = etcdflags.New(flags, "etcd", "", passwordVariable)
	flags.StringSliceVar(&c.zooKeeper, "zookeeper", nil, "servers of the ZooKeeper ensemble, as host:port separated by commas")
	flags.StringVarP(&c.namespace, "namespace", "n", "", "namespace of the jobs (default: that of the context)")
	return c
}

// reading gives a command that reads a registry its flags, and what it does with an open one.
func reading(p *program, cmd *cobra.Command, do func(cmd *cobra.Command, args []string, reg registry.Registry) error) *connection {
	c := newConnection(p, cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.with(cmd.Context(), func(reg registry.Registry) error { return do(cmd, args, reg) })
	}
	return c
}

// with opens the registry for as long as do takes.
func (c *connection) with(ctx context.Context, do func(registry.Registry) error) error {
	reg, err := c.open(ctx)
	if err != nil {
		return err
	}
	err = do(reg)
	if closed := leave(ctx, reg); err == nil {
		err = closed
	}
	return err
}

// open connects as the flags say and, where they name no registry, as the context says.
func (c *connection) open(ctx context.Context) (registry.Registry, error) {
	chosen, err := c.chosen()
	if err != nil {
		return nil, err
	}
	c.etcd.Default(etcdflags.Defaults{
		Endpoints: chosen.Etcd, User: chosen.User, PasswordFile: chosen.PasswordFile, CA: chosen.CA, Cert: chosen.Cert, Key: chosen.Key,
	})
	servers := c.zooKeeper
	if len(servers) == 0 {
		servers = chosen.ZooKeeper
	}
	namespace := cmp.Or(c.namespace, chosen.Namespace)
	if namespace == "" {
		return nil, misuse("--namespace is missing: want the namespace of the jobs")
	}
	if len(servers) == 0 {
		return c.program.openEtcd(ctx, c.etcd, namespace)
	}
	config := zkcompat.Config{Servers: servers, Namespace: namespace}
	if user := c.etcd.User(); user != "" {
		password, err := c.etcd.Password()
		if err != nil {
			return nil, err
		}
		config.Digest = user + ":" + password
	}
	return c.program.zooKeeper(ctx, config)
}

// chosen returns the context in force. Flags that name a registry leave it out altogether: nobody wants the
// credentials of one cluster sent to another.
func (c *connection) chosen() (cluster, error) {
	named := c.etcd.Given() || len(c.zooKeeper) > 0
	switch {
	case c.etcd.Given() && len(c.zooKeeper) > 0:
		return cluster{}, misuse("--etcd and --zookeeper are given: want one of them")
	case named && c.context != "":
		return cluster{}, misuse("--context is given besides --etcd or --zookeeper: want one of them")
	case named:
		return cluster{}, nil
	}
	all, err := c.program.readContexts()
	if err != nil {
		return cluster{}, err
	}
	name := cmp.Or(c.context, c.program.env(contextVariable), all.Current)
	if name == "" {
		return cluster{}, misuse("no registry is named: want --etcd, --zookeeper, or a context (see elasticron context --help)")
	}
	return all.get(name)
}
