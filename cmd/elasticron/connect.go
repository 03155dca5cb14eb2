package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/etcdflags"
	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// connection is the flags that say which namespace of which registry a command is about.
type connection struct {
	program   *program
	context   string
	zooKeeper []string
	namespace string
	server    string
	tokenFile string
	etcd      *etcdflags.Flags
	log       *slog.Logger // hears of the registry; nil is silence, as commands want it that end by themselves
	news      io.Writer    // hears what does not make a command fail that operates jobs; nil for one that reads
}

// newConnection gives a command the flags of a connection to a registry, or through a server.
func newConnection(p *program, flags *pflag.FlagSet) *connection {
	c := newRegistryConnection(p, flags)
	flags.StringVar(&c.server, "server", "", "URL of an elasticron server to go through; the token is that of $"+tokenVariable)
	flags.StringVar(&c.tokenFile, "token-file", "", "file that holds the token for --server, unless $"+tokenVariable+" does")
	return c
}

// newRegistryConnection gives a command that needs the registry itself its flags.
func newRegistryConnection(p *program, flags *pflag.FlagSet) *connection {
	c := &connection{program: p}
	flags.StringVar(&c.context, "context", "", "context to use (default: $"+contextVariable+", else the one chosen by elasticron context use)")
	c.etcd = etcdflags.New(flags, "etcd", "", passwordVariable)
	flags.StringSliceVar(&c.zooKeeper, "zookeeper", nil, "servers of the ZooKeeper ensemble, as host:port separated by commas")
	flags.StringVarP(&c.namespace, "namespace", "n", "", "namespace of the jobs (default: that of the context)")
	return c
}

// reading gives a command that reads a namespace its flags, and what it does with it.
func reading(p *program, cmd *cobra.Command, do func(cmd *cobra.Command, args []string, at place) error) *connection {
	c := newConnection(p, cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.with(cmd.Context(), func(at place) error { return refusedIfDenied(do(cmd, args, at)) })
	}
	return c
}

// with opens the namespace for as long as do takes.
func (c *connection) with(ctx context.Context, do func(place) error) error {
	at, err := c.reach(ctx)
	if err != nil {
		return refusedIfDenied(err)
	}
	err = do(at)
	if all, is := at.(*registries); is {
		err = withLacking(err, all.lacking(err))
		if doubled := all.doubled(); doubled != nil && c.news != nil && statusOf(err) != exitMisuse { // it has done what it was to do
			_, _ = fmt.Fprintln(c.news, "elasticron:", printableLines(doubled.Error()))
		} else {
			err = withDoubled(err, doubled)
		}
	}
	if closed := leave(ctx, at); err == nil {
		err = closed
	}
	return err
}

// withLacking adds to what became of a command that registries are away. What it did not find may be there.
func withLacking(err, lacking error) error {
	switch {
	case err == nil || lacking == nil:
		return cmp.Or(err, lacking)
	case statusOf(err) == exitMisuse:
		return err
	}
	cause, _ := operate.IsRefused(err)
	both := fmt.Errorf("%w\n%w", err, lacking)
	if cause == operate.CauseUnknownJob || cause == operate.CauseUnknownTarget || errors.As(err, new(noJobError)) {
		return statusError{exitFailed, both}
	}
	return both
}

// withDoubled adds to what became of a command that registries hold the same job.
func withDoubled(err, doubled error) error {
	if err == nil || doubled == nil || statusOf(err) == exitMisuse {
		return cmp.Or(err, doubled)
	}
	return fmt.Errorf("%w\n%w", err, doubled)
}

// refusedIfDenied gives an error the status of a refusal if a right is missing. It is for where nothing can have been done.
func refusedIfDenied(err error) error {
	if errors.Is(err, registry.ErrDenied) && statusOf(err) == exitFailed {
		return statusError{exitRefused, err}
	}
	return err
}

// reach connects as the flags say and, where they name neither a registry nor a server, as the context says.
func (c *connection) reach(ctx context.Context) (place, error) {
	chosen, err := c.chosen()
	if err != nil {
		return nil, err
	}
	if server := cmp.Or(c.server, chosen.Server); server != "" {
		return c.byServer(server, chosen)
	}
	if c.tokenFile != "" {
		return nil, misuse("--token-file is given without --server")
	}
	if len(chosen.Registries) > 0 {
		return c.newRegistries(chosen)
	}
	return c.open(ctx, chosen)
}

// byServer reaches a namespace through a server. It makes no connection yet.
func (c *connection) byServer(at string, chosen cluster) (place, error) {
	c.etcd.Default(etcdflags.Defaults{CA: chosen.CA, Cert: chosen.Cert, Key: chosen.Key})
	secure, err := c.etcd.TLS()
	if err != nil {
		return nil, err
	}
	token := c.program.secret(tokenVariable)
	if file := cmp.Or(c.tokenFile, chosen.TokenFile); token == "" && file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
		token = strings.TrimSpace(string(text))
	}
	namespace := cmp.Or(c.namespace, chosen.Namespace)
	if namespace == "" {
		return nil, misuse("--namespace is missing: want the namespace of the jobs")
	}
	server, err := client.Open(client.Config{URL: at, Namespace: namespace, Token: token, TLS: secure, Agent: agent()})
	if err != nil {
		return nil, usageError{err}
	}
	return server, nil
}

// tokenVariable is the variable of the environment that holds the token for a server.
const tokenVariable = "ELASTICRON_TOKEN"

// errNotNamed is that of [connection.chosen] if neither flags nor a context say where the jobs are.
var errNotNamed = errors.New("no registry is named")

// oneRegistry refuses a context of several registries where there must be one.
func oneRegistry(chosen cluster) error {
	if len(chosen.Registries) == 0 {
		return nil
	}
	return misuse("the context has several registries: want that of one of them, %s", strings.Join(slices.Sorted(maps.Values(chosen.Registries)), ", "))
}

// withoutTLS refuses flags that ask for TLS where the registry is a ZooKeeper: nobody who gives them wants passwords and
// settings to be sent in the clear.
func withoutTLS(flags *etcdflags.Flags) error {
	if flag := flags.SecuredBy(); flag != "" {
		return misuse("%s is given, and elasticron speaks no TLS to ZooKeeper: want etcd, or none of these flags and a network that others cannot read", flag)
	}
	return nil
}

// open connects to a registry.
func (c *connection) open(ctx context.Context, chosen cluster) (registry.Registry, error) {
	if err := oneRegistry(chosen); err != nil {
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
		return c.program.openEtcd(ctx, c.etcd, namespace, c.log)
	}
	if err := withoutTLS(c.etcd); err != nil {
		return nil, err
	}
	return c.program.openZooKeeper(ctx, servers, namespace, c.etcd.User(), c.etcd.Password, c.log)
}

// chosen returns the context in force. Flags that name a registry leave it out altogether: nobody wants the
// credentials of one cluster sent to another.
func (c *connection) chosen() (cluster, error) {
	named := c.etcd.Given() || len(c.zooKeeper) > 0 || c.server != ""
	switch {
	case c.server != "" && (c.etcd.Given() || len(c.zooKeeper) > 0):
		return cluster{}, misuse("--server is given besides --etcd or --zookeeper: want one of them")
	case c.etcd.Given() && len(c.zooKeeper) > 0:
		return cluster{}, misuse("--etcd and --zookeeper are given: want one of them")
	case named && c.context != "":
		return cluster{}, misuse("--context is given besides --etcd, --zookeeper or --server: want one of them")
	case named:
		return cluster{}, nil
	}
	all, err := c.program.readContexts()
	if err != nil {
		return cluster{}, err
	}
	name := cmp.Or(c.context, c.program.env(contextVariable), all.Current)
	if name == "" {
		there := ""
		if names := slices.Sorted(maps.Keys(all.Contexts)); len(names) > 0 {
			there = "; there are the contexts " + strings.Join(names, ", ") + ", of which none is chosen"
		}
		return cluster{}, misuse("%w: want --etcd, --zookeeper, --server, or a context (see elasticron context --help)%s", errNotNamed, there)
	}
	return all.get(name)
}
