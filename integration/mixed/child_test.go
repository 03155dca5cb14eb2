package mixed

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

// envChild holds what this binary is told when it is a Go instance of a test, and not the test.
const envChild = "ELASTICRON_MIXED_CHILD"

type childSettings struct {
	Address, Namespace, ID string
	Layout                 jobtree.Layout
	Config                 job.Config
}

// child is a Go instance in a process of its own, which can be killed.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// startChild starts a Go instance in a process and waits until it has joined. Its executions never end.
func (c *cluster) startChild(cfg job.Config) *child {
	c.t.Helper()
	settings, err := json.Marshal(childSettings{c.address, c.namespace, goID, c.layout, cfg})
	require.NoError(c.t, err)
	self, err := os.Executable()
	require.NoError(c.t, err)
	p := &child{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), envChild+"="+string(settings))
	p.cmd.Stderr = c.log
	_, err = p.cmd.StdinPipe() // stays open for as long as this process lives
	require.NoError(c.t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(c.t, err)
	p.lines = bufio.NewScanner(out)
	require.NoError(c.t, p.cmd.Start())
	c.t.Cleanup(p.kill)
	p.await(c.t, "joined")
	return p
}

// await waits until the process says so.
func (p *child) await(t *testing.T, line string) {
	t.Helper()
	for p.lines.Scan() {
		if p.lines.Text() == line {
			return
		}
	}
	require.Fail(t, "the Go process ended", "before it said %q", line)
}

func (p *child) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// runChild is the process.
func runChild(text string) int {
	go func() { // a process that lost its parent ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := be(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func be(text string) error {
	var settings childSettings
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return err
	}
	ctx := context.Background()
	reg, err := zkcompat.Open(ctx, zkcompat.Config{
		Servers: []string{settings.Address}, Namespace: settings.Namespace, SessionTimeout: sessionTimeout, ConnectionTimeout: patience,
	})
	if err != nil {
		return err
	}
	s, err := scheduler.New(reg, options(settings.Layout, settings.ID, os.Stderr)...)
	if err != nil {
		return err
	}
	stuck := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		fmt.Printf("began %d\n", sc.Item)
		select {} // also when its session is lost, which a busy machine brings about: what a crash cut short has no end
	})
	if _, err := s.Add(ctx, settings.Config, stuck); err != nil {
		return err
	}
	go func() {
		<-s.Ready()
		fmt.Println("joined")
	}()
	return s.Run(ctx)
}
