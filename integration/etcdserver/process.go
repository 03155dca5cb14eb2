package etcdserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
	"github.com/elasticron/elasticron/integration/serverprocess"
)

// process is the process of a cluster.
type process struct {
	*serverprocess.Process
	folder string // of its log and its data
	client *rpc.Client
	calls  atomic.Int64
	close  func() error // end, once
}

// start starts a process and does not wait for its servers to be ready.
func start(settings wire.Cluster) (*process, error) {
	command, err := command(wire.RoleCluster, settings)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "elasticron-etcdserver-")
	if err != nil {
		return nil, err
	}
	p := &process{folder: folder}
	p.close = sync.OnceValue(p.end)
	if err := p.launch(command); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return p, nil
}

// command returns the command line of a role.
func command(role string, settings any) ([]string, error) {
	program, err := program()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(settings)
	return []string{program, role, string(text)}, err
}

func (p *process) launch(command []string) error {
	stdin, orders, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close() //nolint:errcheck // this end is the child's
	answers, stdout, err := os.Pipe()
	if err != nil {
		return errors.Join(err, orders.Close())
	}
	defer stdout.Close() //nolint:errcheck // as above
	p.Process, err = serverprocess.Start(command, p.log(), func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout = stdin, stdout
		cmd.Env = append(os.Environ(), "TMPDIR="+p.folder)
	})
	if err != nil {
		return errors.Join(err, orders.Close(), answers.Close())
	}
	p.client = jsonrpc.NewClient(pipes{answers, orders})
	return nil
}

// pipes are the ends of both pipes.
type pipes struct {
	*os.File
	orders *os.File
}

func (p pipes) Write(line []byte) (int, error) { return p.orders.Write(line) }

func (p pipes) Close() error { return errors.Join(p.orders.Close(), p.File.Close()) }

// order has the process do something that it cannot fail to do. If it is gone, so are the servers, and
// close says so.
func (p *process) order(method string, member int) {
	_ = p.ask(context.Background(), method, member, new(wire.Nothing))
}

// ask has the process do something and waits until it is done, which it is soon when the context ends.
func (p *process) ask(ctx context.Context, method string, member int, result any) error {
	call := wire.Call{ID: p.calls.Add(1), Member: member}
	cancel := context.AfterFunc(ctx, func() { _ = p.client.Call(wire.Cancel, call, new(wire.Nothing)) })
	defer cancel()
	err := p.client.Call(method, call, result)
	var refused rpc.ServerError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	case errors.As(err, &refused):
		return err
	default:
		return fmt.Errorf("the process of the etcd servers is gone: %w\n%s", err, serverprocess.LogTail(p.log()))
	}
}

// end ends the process.
func (p *process) end() error {
	var fault error
	select {
	case <-p.Gone():
		fault = fmt.Errorf("the process of the etcd servers ended by itself: %s\n%s", p.State(), serverprocess.LogTail(p.log()))
	default:
	}
	return errors.Join(fault, p.client.Close(), p.Kill(), os.RemoveAll(p.folder))
}

func (p *process) log() string { return filepath.Join(p.folder, "log") }
