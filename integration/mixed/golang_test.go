package mixed

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// golang is a Go instance of a cluster.
type golang struct {
	*scheduler.Scheduler
	c      *cluster
	id     string
	cancel context.CancelFunc
	done   chan error

	mu      sync.Mutex
	runs    []job.ShardingContext
	ended   int
	changed chan struct{}
	gate    chan struct{} // executions wait until it is closed; nil = they do not
}

// triggerJob has a job run by hand.
func (g *golang) triggerJob(ctx context.Context, name string) error {
	j, err := g.Job(name)
	if err != nil {
		return err
	}
	_, err = j.Trigger(ctx)
	return err
}

// goID is the id of the Go instance that most tests have one of.
const goID = ipGo + "@-@go"

// startGo starts a Go instance and waits until it has joined.
func (c *cluster) startGo(cfg job.Config) *golang {
	c.t.Helper()
	return c.startGoOver(c.open(c.address), goID, cfg)
}

func (c *cluster) startGoOver(reg registry.Registry, id string, cfg job.Config) *golang {
	c.t.Helper()
	return c.startGoRunning(reg, id, cfg, nil)
}

// startGoRunning starts a Go instance with code of its own; nil is what [golang] tells of.
func (c *cluster) startGoRunning(reg registry.Registry, id string, cfg job.Config, code job.Handler) *golang {
	c.t.Helper()
	s, err := scheduler.New(reg, c.options(id, c.log)...)
	require.NoError(c.t, err)
	g := &golang{Scheduler: s, c: c, id: id, done: make(chan error, 1), changed: make(chan struct{})}
	if code == nil {
		code = job.HandlerFunc(g.execute)
	}
	_, err = s.Add(c.t.Context(), cfg, code)
	require.NoError(c.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	go func() { g.done <- s.Run(ctx) }()
	c.t.Cleanup(g.stop)
	select {
	case <-s.Ready():
	case err := <-g.done:
		g.done <- nil
		require.NoError(c.t, err)
	case <-time.After(patience):
		require.Fail(c.t, "the Go instance does not join")
	}
	return g
}

func (c *cluster) options(id string, log io.Writer) []scheduler.Option {
	return options(c.layout, id, log)
}

// peersOf are the options of a process beside Java instances.
var peersOf = map[jobtree.Layout]scheduler.Option{
	jobtree.Lite: scheduler.WithJavaPeers(), jobtree.ElasticJob3: scheduler.WithElasticJob3Peers(),
}

func options(of jobtree.Layout, id string, log io.Writer) []scheduler.Option {
	return []scheduler.Option{
		peersOf[of], scheduler.WithInstanceID(id), scheduler.WithStopTimeout(10 * time.Second),
		scheduler.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	}
}

// stop ends the instance gracefully. It may be called more than once.
func (g *golang) stop() {
	g.release()
	g.cancel()
	err := <-g.done
	g.done <- err
	require.NoError(g.c.t, err)
}

func (g *golang) execute(ctx context.Context, sc job.ShardingContext) error {
	g.mu.Lock()
	g.runs = append(g.runs, sc)
	gate := g.gate
	g.change()
	g.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended++
	g.change()
	return nil
}

// change wakes those who wait. The caller holds mu.
func (g *golang) change() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// hold has executions that begin from now on go on until release, and returns how many began before.
func (g *golang) hold() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gate == nil {
		g.gate = make(chan struct{})
	}
	return len(g.runs)
}

// holdOne is hold, and waits until it holds an execution of an item. The item's mark alone does not tell: it may be of an
// execution that began before, whose end is on its way to the store.
func (g *golang) holdOne(item int) {
	g.c.t.Helper()
	before := g.hold()
	g.wait("an execution that is held", func(runs []job.ShardingContext) bool { return times(runs[before:], item) > 0 })
}

func (g *golang) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gate != nil {
		close(g.gate)
		g.gate = nil
	}
}

func (g *golang) look() ([]job.ShardingContext, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.runs), g.changed
}

// wait waits until what ran here is enough, and returns it.
func (g *golang) wait(what string, enough func([]job.ShardingContext) bool) []job.ShardingContext {
	g.c.t.Helper()
	deadline := time.After(patience)
	for {
		runs, changed := g.look()
		if enough(runs) {
			return runs
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(g.c.t, "waited in vain for the Go instance", "%s; it ran %s", what, shown(runs))
		}
	}
}

// shown names the runs, for messages.
func shown(runs []job.ShardingContext) string {
	var b strings.Builder
	for _, sc := range runs {
		fmt.Fprintf(&b, "%d %s %s, ", sc.Item, sc.Source, sc.Fire.Format("05"))
	}
	return b.String()
}

// ran tells whether an item ran here more than so many times.
func ran(item, more int) func([]job.ShardingContext) bool {
	return func(runs []job.ShardingContext) bool { return times(runs, item) > more }
}

func times(runs []job.ShardingContext, item int) int {
	n := 0
	for _, sc := range runs {
		if sc.Item == item {
			n++
		}
	}
	return n
}
