package mixed

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

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
	Session                time.Duration
	Heeds                  bool // its executions end when their context does, or when it is told
	Brief                  bool // they end at once, and it says for which fires they ran
}

// child is a Go instance in a process of its own, which can be killed.
type child struct {
	cmd   *exec.Cmd
	in    io.Writer
	lines *bufio.Scanner
}

// startChild starts a Go instance in a process and waits until it has joined. Its executions never end.
func (c *cluster) startChild(cfg job.Config) *child {
	c.t.Helper()
	return c.startChildWith(childSettings{Config: cfg, Session: sessionTimeout})
}

func (c *cluster) startChildWith(chosen childSettings) *child {
	c.t.Helper()
	chosen.Address, chosen.Namespace, chosen.ID, chosen.Layout = c.address, c.namespace, goID, c.layout
	settings, err := json.Marshal(chosen)
	require.NoError(c.t, err)
	self, err := os.Executable()
	require.NoError(c.t, err)
	p := &child{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), envChild+"="+string(settings))
	p.cmd.Stderr = c.log
	p.in, err = p.cmd.StdinPipe() // stays open for as long as this process lives
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

// next returns what the process says next.
func (p *child) next(t *testing.T) string {
	t.Helper()
	require.True(t, p.lines.Scan(), "the Go process ended")
	return p.lines.Text()
}

// ran returns which item the process runs next, and for which fire, if its executions are brief.
func (p *child) ran(t *testing.T) (item int, fire time.Time) {
	t.Helper()
	var unix int64
	line := p.next(t)
	_, err := fmt.Sscanf(line, "ran %d %d", &item, &unix)
	require.NoError(t, err, line)
	return item, time.Unix(unix, 0)
}

// end has the executions that run now end.
func (p *child) end(t *testing.T) {
	t.Helper()
	_, err := io.WriteString(p.in, "end\n")
	require.NoError(t, err)
}

func (p *child) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// runChild is the process.
func runChild(text string) int {
	var work childWork
	go func() { // a process that lost its parent ends
		for told := bufio.NewScanner(os.Stdin); told.Scan(); {
			work.end()
		}
		os.Exit(0)
	}()
	if err := be(text, &work); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// childWork are executions that end when they are told.
type childWork struct {
	mu   sync.Mutex
	told chan struct{} // closed when those that wait for it are to end
}

func (w *childWork) waiting() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told == nil {
		w.told = make(chan struct{})
	}
	return w.told
}

func (w *childWork) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told != nil {
		close(w.told)
		w.told = nil
	}
}

func (w *childWork) heed(ctx context.Context, sc job.ShardingContext) error {
	told := w.waiting()
	fmt.Printf("began %d\n", sc.Item)
	select {
	case <-told:
		fmt.Printf("ended %d\n", sc.Item)
		return nil
	case <-ctx.Done():
		fmt.Printf("cut %d\n", sc.Item)
		return context.Cause(ctx)
	}
}

func be(text string, work *childWork) error {
	var settings childSettings
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return err
	}
	ctx := context.Background()
	reg, err := zkcompat.Open(ctx, zkcompat.Config{
		Servers: []string{settings.Address}, Namespace: settings.Namespace, SessionTimeout: settings.Session, ConnectionTimeout: patience,
	})
	if err != nil {
		return err
	}
	s, err := scheduler.New(reg, options(settings.Layout, settings.ID, os.Stderr)...)
	if err != nil {
		return err
	}
	code := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		fmt.Printf("began %d\n", sc.Item)
		select {} // also when its session is lost, which a busy machine brings about: what a crash cut short has no end
	})
	switch {
	case settings.Heeds:
		code = work.heed
	case settings.Brief:
		code = func(_ context.Context, sc job.ShardingContext) error {
			fmt.Printf("ran %d %d\n", sc.Item, sc.Fire.Unix())
			return nil
		}
	}
	if _, err := s.Add(ctx, settings.Config, code); err != nil {
		return err
	}
	go func() {
		<-s.Ready()
		fmt.Println("joined")
	}()
	return s.Run(ctx)
}
