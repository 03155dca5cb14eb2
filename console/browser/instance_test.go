package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/scheduler"
)

// The environment of a process that is an instance: this test program, started again.
const (
	instanceEndpoint = "CONSOLE_INSTANCE_ENDPOINT"
	instanceName     = "CONSOLE_INSTANCE_NAME"
)

// instance is a process that takes part in the jobs of the stage.
type instance struct {
	id       string
	endpoint string
	cmd      *exec.Cmd
}

// join starts an instance, and waits until it takes part.
func join(tb testing.TB, endpoint, name string) *instance {
	tb.Helper()
	self, err := os.Executable()
	require.NoError(tb, err)
	i := &instance{endpoint: endpoint, cmd: exec.Command(self)}
	i.cmd.Env = append(os.Environ(), instanceEndpoint+"="+endpoint, instanceName+"="+name)
	out, err := i.cmd.StdoutPipe()
	require.NoError(tb, err)
	i.cmd.Stderr = os.Stderr
	require.NoError(tb, i.cmd.Start())
	tb.Cleanup(func() { i.kill(); _ = i.cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(tb, err, "the instance ended before it took part")
	i.id = strings.TrimSpace(line)
	return i
}

// kill is SIGKILL: the process says nothing to anybody.
func (i *instance) kill() { _ = i.cmd.Process.Kill() }

// killWhileItRuns kills the process when it runs an item of a job. It is stopped first, so that the item has no time to end.
func (i *instance) killWhileItRuns(tb testing.TB, job string) {
	tb.Helper()
	reg, err := etcd.Open(tb.Context(), etcd.Config{Endpoints: []string{i.endpoint}, Namespace: "shop", DialTimeout: patience})
	require.NoError(tb, err)
	defer reg.Close(context.Background()) //nolint:errcheck // it is read from only
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		require.NoError(tb, i.cmd.Process.Signal(syscall.SIGSTOP))
		if i.runs(tb, reg, job) {
			time.Sleep(300 * time.Millisecond) // for what it had sent before it was stopped
			if i.runs(tb, reg, job) {
				i.kill()
				return
			}
		}
		require.NoError(tb, i.cmd.Process.Signal(syscall.SIGCONT))
		require.True(tb, time.Now().Before(deadline), "%s runs nothing of %s", i.id, job)
	}
}

// runs tells whether the registry says that the process runs an item of a job.
func (i *instance) runs(tb testing.TB, reg *etcd.Registry, job string) bool {
	tb.Helper()
	nodes, _, err := reg.List(tb.Context(), "/"+job)
	require.NoError(tb, err)
	var mine registry.SessionID
	for _, n := range nodes {
		if n.Path == "/"+job+"/instances/"+i.id {
			mine = n.Session
		}
	}
	return slices.ContainsFunc(nodes, func(n registry.Node) bool {
		return mine != 0 && n.Session == mine && strings.HasSuffix(n.Path, "/running")
	})
}

// beInstance is the program of such a process. It runs until it is killed.
func beInstance(endpoint, name string) error {
	ctx := context.Background()
	reg, err := etcd.Open(ctx, etcd.Config{Endpoints: []string{endpoint}, Namespace: "shop", SessionTTL: 8 * time.Second, DialTimeout: patience}) // beside a browser, which takes the processors for seconds
	if err != nil {
		return err
	}
	s, err := scheduler.New(reg, scheduler.WithInstanceID(name))
	if err != nil {
		return err
	}
	declared := []struct {
		config job.Config
		code   job.HandlerFunc
	}{
		// It is nearly always running, so that whoever dies dies in the middle of an execution.
		{job.Config{Name: "orders-settle", Cron: "0/3 * * * * ?", ShardingTotalCount: 4, Failover: true, Description: "Settles the orders of the day"}, runFor(2500 * time.Millisecond)},
		{job.Config{Name: "orders-mail", Cron: "@triggered", ShardingTotalCount: 3}, runFor(200 * time.Millisecond)},
		{job.Config{Name: "stock-count", Cron: "0/2 * * * * ?", ShardingTotalCount: 2}, func(context.Context, job.ShardingContext) error {
			return errors.New("exit 3: no such table: <b>stock</b>")
		}},
	}
	for _, d := range declared {
		if _, err := s.Add(ctx, d.config, d.code); err != nil {
			return err
		}
	}
	fmt.Println(name)
	return s.Run(ctx)
}

func runFor(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
