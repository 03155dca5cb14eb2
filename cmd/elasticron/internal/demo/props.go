package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// store returns the endpoints of the given cluster, or of a server that it starts in this process.
func store(ctx context.Context, given []string, namespace string, tell *narrator) (endpoints []string, stop func() error, err error) {
	if len(given) > 0 {
		tell.say(plain, "etcd is at %s; all keys are below /%s/ and go at the end", strings.Join(given, ","), namespace)
		return given, func() error { return nil }, nil
	}
	// An election in half of the usual time halves the start; a server alone has nobody to wait for.
	server, err := embedded.Start(ctx, embedded.WithHeartbeat(50*time.Millisecond, 500*time.Millisecond))
	if err != nil {
		return nil, nil, err
	}
	tell.say(plain, "etcd runs in this process, at %s", server.Endpoints()[0])
	return server.Endpoints(), server.Close, nil
}

// openLog returns where processes log to: what is given, or else a file that goes when it is empty or
// done(nil) adds nothing. Otherwise done adds to the error where the file is.
func openLog(given *os.File) (logs *os.File, done func(error) error, err error) {
	if given != nil {
		return given, func(err error) error { return err }, nil
	}
	dir, err := os.MkdirTemp("", "elasticron-demo-")
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, "processes.log")
	logs, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return logs, func(err error) error {
		info, statErr := logs.Stat()
		closed := errors.Join(statErr, logs.Close())
		silent := statErr == nil && info.Size() == 0
		if err == nil || silent || errors.Is(err, ErrInterrupted) && !errors.Is(err, ErrInexact) {
			return errors.Join(err, closed, os.RemoveAll(dir))
		}
		return fmt.Errorf("%w\nthe processes logged to %s", err, path)
	}, nil
}

// removeAll leaves a namespace as if nobody had used it, and closes the handle.
func removeAll(ctx context.Context, reg registry.Registry) error {
	ctx, cancel := context.WithTimeout(ctx, 2*farewell)
	defer cancel()
	txn := registry.Txn{Repeat: registry.RepeatHarmless} // all who wrote there have gone
	names, err := reg.Children(ctx, registry.Root)
	for _, name := range names {
		txn.Then = append(txn.Then, registry.DeleteTree(registry.Root+name))
	}
	if len(names) > 0 {
		_, err = reg.Commit(ctx, txn)
	}
	if err != nil {
		err = fmt.Errorf("remove what the demo wrote: %w", err)
	}
	return errors.Join(err, reg.Close(ctx))
}
