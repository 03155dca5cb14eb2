package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/user"
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/etcdflags"
	references "github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// program is what commands need of the world around them.
type program struct {
	etcd      func(context.Context, etcd.Config) (registry.Registry, error)
	zooKeeper func(context.Context, zkcompat.Config) (registry.Registry, error)
	now       func() time.Time
	env       func(string) string
	in        io.Reader
	asked     func(in any) bool // whether somebody sits there who can be asked
	pause     time.Duration     // between two lines that tell of progress, where no terminal is

	startPatience time.Duration // that a worker or a server has with its registry when it starts
}

func newProgram() *program {
	return &program{
		etcd: func(ctx context.Context, c etcd.Config) (registry.Registry, error) {
			reg, err := etcd.Open(ctx, c)
			if err != nil {
				return nil, err // and no interface that holds a nil pointer
			}
			return reg, nil
		},
		zooKeeper: func(ctx context.Context, c zkcompat.Config) (registry.Registry, error) {
			reg, err := zkcompat.Open(ctx, c)
			if err != nil {
				return nil, err
			}
			return reg, nil
		},
		now: time.Now,
		env: os.Getenv,
		in:  os.Stdin, asked: terminal,
		pause:         5 * time.Second,
		startPatience: startPatience,
	}
}

// who is the name that is written down with what is done: that under which the registry knows the user, else that of
// the login.
func (p *program) who(known string) string {
	if name := cmp.Or(known, p.env("USER")); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// secret is what a variable of the environment holds, without the line end of a file from which somebody has made it.
func (p *program) secret(variable string) string { return references.WithoutLineEnd(p.env(variable)) }

// openEtcd connects to a cluster. The log hears of it; nil is silence.
func (p *program) openEtcd(ctx context.Context, flags *etcdflags.Flags, namespace string, log *slog.Logger) (registry.Registry, error) {
	config, err := flags.Config(namespace)
	if file := (etcdflags.FileError{}); errors.As(err, &file) {
		return nil, err // it may be there the next time, or fit its key
	}
	if err != nil {
		return nil, usageError{err}
	}
	config.Logger = log
	return p.etcd(ctx, config)
}

// openZooKeeper connects to an ensemble: as a user of the digest scheme, for whom the password is asked, or as nobody.
// The log hears of it; nil is silence.
func (p *program) openZooKeeper(
	ctx context.Context, servers []string, namespace, user string, password func() (string, error), log *slog.Logger,
) (registry.Registry, error) {
	config := zkcompat.Config{Servers: servers, Namespace: namespace, Logger: log}
	if user != "" {
		secret, err := password()
		if err != nil {
			return nil, err
		}
		config.Digest = user + ":" + secret
	}
	return p.zooKeeper(ctx, config)
}
