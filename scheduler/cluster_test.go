package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// everyFive fires at the seconds 0, 5, 10, … of each minute.
const everyFive = "0/5 * * * * ?"

// errOf is what went wrong with a call that returns something else as well.
func errOf[T any](_ T, err error) error { return err }

// cluster is a set of instances over one in-memory registry, in a synctest bubble.
type cluster struct {
	t      *testing.T
	server *memory.Server
	mu     sync.Mutex
	runs   []run
}

// run is one execution that user code saw.
type run struct {
	instance string
	sc       job.ShardingContext
	began    time.Time
	ended    time.Time
	cause    error // of its context, when it ended
}

// instance is one process of the cluster.
type instance struct {
	*scheduler.Scheduler
	registry *memory.Registry
	cancel   context.CancelFunc
	done     chan error // what Run returned
}

// trigger has the job "orders" run by hand.
func trigger(t *testing.T, s interface {
	Job(name string) (*scheduler.Job, error)
},
) {
	t.Helper()
	j, err := s.Job("orders")
	require.NoError(t, err)
	_, err = j.Trigger(t.Context())
	require.NoError(t, err)
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, &cluster{t: t, server: memory.NewServer()})
	})
}

// jobOf returns a configuration of a job "orders" that fires every five seconds.
func jobOf(total int) job.Config {
	return job.Config{Name: "orders", Cron: everyFive, ShardingTotalCount: total}
}

// start runs an instance with the given jobs, all of them done by work (nil = nothing), and waits
// until it has joined.
func (c *cluster) start(id string, work job.HandlerFunc, configs ...job.Config) *instance {
	c.t.Helper()
	i := c.launch(id, work, configs...)
	select {
	case <-i.Ready():
	case err := <-i.done:
		require.NoError(c.t, err, "instance %s", id)
	case <-time.After(time.Minute):
		require.Fail(c.t, "not ready", "instance %s", id)
	}
	return i
}

// launch is start without the wait.
func (c *cluster) launch(id string, work job.HandlerFunc, configs ...job.Config) *instance {
	c.t.Helper()
	return c.launchOver(c.server.Open("test"), id, work, configs...)
}

// launchOver is launch with a registry handle of its own.
func (c *cluster) launchOver(reg *memory.Registry, id string, work job.HandlerFunc, configs ...job.Config) *instance {
	c.t.Helper()
	opts := []scheduler.Option{scheduler.WithInstanceID(fullID(id))}
	if os.Getenv("ELASTICRON_TEST_LOG") != "" {
		opts = append(opts, scheduler.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	}
	s, err := scheduler.New(reg, opts...)
	require.NoError(c.t, err)
	for _, cfg := range configs {
		require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record(id, work))))
	}
	return c.run(s, reg)
}

// run has a scheduler run over a registry handle, at the latest until the test ends.
func (c *cluster) run(s *scheduler.Scheduler, reg *memory.Registry) *instance {
	ctx, cancel := context.WithCancel(c.t.Context())
	i := &instance{Scheduler: s, registry: reg, cancel: cancel, done: make(chan error, 1)}
	go func() { i.done <- s.Run(ctx) }()
	c.t.Cleanup(func() { i.stop(c.t) })
	return i
}

func fullID(id string) string { return "10.0.0.1@-@" + id }

// ended waits until Run has returned, and returns its error. At the end of the test it counts as seen.
func (i *instance) ended() error {
	err := <-i.done
	i.done <- nil
	return err
}

// stop ends the instance gracefully and closes its registry. It may be called more than once.
func (i *instance) stop(t *testing.T) {
	t.Helper()
	i.cancel()
	err := <-i.done
	i.done <- err
	require.NoError(t, err)
	require.NoError(t, i.registry.Close(context.Background()))
}

// record makes work of a test tell the cluster what it was called for.
func (c *cluster) record(id string, work job.HandlerFunc) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		r := run{instance: id, sc: sc, began: time.Now()}
		var err error
		if work != nil {
			err = work(ctx, sc)
		}
		r.ended, r.cause = time.Now(), context.Cause(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.runs = append(c.runs, r)
		return err
	}
}

// take returns the runs since the last take, in the order of items and begins. It waits first for all
// that happens at this moment: an item whose context was just cancelled has yet to return, and nobody
// else waits for the goroutine that it is on, not even Run.
func (c *cluster) take() []run {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	runs := c.runs
	c.runs = nil
	slices.SortStableFunc(runs, func(a, b run) int {
		if a.sc.Item != b.sc.Item {
			return a.sc.Item - b.sc.Item
		}
		return a.began.Compare(b.began)
	})
	return runs
}

// String describes a run for messages and comparisons, fires as seconds since the bubble began.
func (r run) String() string {
	fire := "by hand"
	if !r.sc.Fire.IsZero() {
		fire = r.sc.Fire.Sub(bubbleStart).String()
	}
	return fmt.Sprintf("item %d fire %s %s on %s", r.sc.Item, fire, r.sc.Source, r.instance)
}

// bubbleStart is when the clock of every synctest bubble starts.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// sleepUntil sleeps until so long after the start of the bubble, and until all has settled then.
func sleepUntil(d time.Duration) {
	time.Sleep(time.Until(bubbleStart.Add(d)))
	synctest.Wait()
}

func registryPut(path, value string) registry.Txn {
	return registry.Txn{Then: []registry.Write{registry.Put(path, value)}}
}

// serve runs a scheduler of the job "orders" over a registry until the returned function stops it.
func (c *cluster) serve(id string, reg registry.Registry, work job.HandlerFunc, opts ...scheduler.Option) (stop func()) {
	c.t.Helper()
	s, err := scheduler.New(reg, append(opts, scheduler.WithInstanceID(fullID(id)))...)
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), jobOf(2), c.record(id, work))))
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(c.t, <-done)
	}
}

// serveOver runs an instance with a handler of class "index" over a registry of the test's making, until
// it is told to stop. It returns what Run did.
func (c *cluster) serveOver(reg registry.Registry, code job.HandlerFunc) (s *scheduler.Scheduler, stop func() error) {
	c.t.Helper()
	s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithHandler("index", code))
	require.NoError(c.t, err)
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return s, func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(time.Hour):
			require.Fail(c.t, "Run hangs")
			return nil
		}
	}
}

// startWith is [cluster.start] with options of the process.
func (c *cluster) startWith(id string, work job.HandlerFunc, options []scheduler.Option, configs ...job.Config) *instance {
	c.t.Helper()
	i := c.launchWith(id, work, options, nil, configs...)
	<-i.Ready()
	return i
}

// launchWith is [cluster.launch] with options of the process and of its jobs.
func (c *cluster) launchWith(id string, work job.HandlerFunc, options []scheduler.Option, declared []scheduler.JobOption, configs ...job.Config) *instance {
	c.t.Helper()
	reg := c.server.Open("test")
	s, err := scheduler.New(reg, append([]scheduler.Option{scheduler.WithInstanceID(fullID(id))}, options...)...)
	require.NoError(c.t, err)
	for _, cfg := range configs {
		require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record(id, work), declared...)))
	}
	return c.run(s, reg)
}
