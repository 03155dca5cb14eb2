package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

const (
	namespace = "test"
	jobName   = "orders"
	everyFive = "0/5 * * * * ?"
)

// cluster is a set of processes over one store, in a bubble.
type cluster struct {
	t        *testing.T
	server   *memory.Server
	operator *memory.Registry // never disturbed
	view     *registry.View   // of the job, by the operator
	rec      *recorder
	rules    checker.Rules
	declared job.Config
	work     func(job.ShardingContext) work
	ttl      time.Duration // of sessions
	latency  func(id string) time.Duration
	spread   func(id string) uint64 // see memory.WithSpread
	delays   func(id string) func(memory.Message) time.Duration
	wrap     func(registry.Registry) registry.Registry
	follows  func(id string) scheduler.Following
	opening  func(id string) time.Duration // of a view of parts
	requests int                           // of each process that are under way at a time; 0 = any number
	refuses  func(id string, cfg job.Config) bool
	hooks    []string // the phases of rounds for which the job has hooks
	log      *slog.Logger
	slowLogs uint64      // by which logs are slow, see logOf
	over     atomic.Bool // the test is
	// processes are all that scenarios started, in order.
	processes []*process
}

// work is what the code of an item does.
type work struct {
	takes    time.Duration
	stubborn bool          // it goes on though its context ended
	saves    int           // how many checkpoints it saves
	patience time.Duration // how long it waits for one to be saved
	err      error
	yields   bool // it makes room when it is told to
	heeds
}

// inBubble runs a test on an empty cluster in virtual time, and then judges what happened. It is up to
// the test to stop every process.
func inBubble(t *testing.T, cfg job.Config, test func(t *testing.T, c *cluster)) []checker.Finding {
	t.Helper()
	var findings []checker.Finding
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, cfg)
		t.Cleanup(c.end)
		test(t, c)
		synctest.Wait()
		findings = checker.Judge(c.rec.history(), c.rules)
	})
	return findings
}

// end kills what is still there, as after a test that failed: a bubble ends with its last goroutine.
func (c *cluster) end() {
	for _, p := range c.processes {
		if p.alive() {
			p.crash()
		}
	}
	c.operator.Vanish()
	c.over.Store(true)
	time.Sleep(2 * slowest) // for the lines that are being written
}

func newCluster(t *testing.T, cfg job.Config) *cluster {
	c := &cluster{
		t: t, server: memory.NewServer(), rec: &recorder{job: cfg.Name, refused: make(map[string]*checker.Incident)}, rules: checker.DefaultRules(), declared: cfg,
		work:    func(job.ShardingContext) work { return work{takes: 100 * time.Millisecond} },
		ttl:     memory.DefaultTTL,
		latency: delayOf,
		spread:  func(string) uint64 { return 0 },
		delays:  func(string) func(memory.Message) time.Duration { return nil },
		wrap:    func(r registry.Registry) registry.Registry { return r },
		follows: func(string) scheduler.Following { return scheduler.FollowWhole },
		opening: func(string) time.Duration { return 0 },
		log:     slog.New(slog.DiscardHandler),
	}
	if os.Getenv("ELASTICRON_TEST_LOG") != "" {
		c.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	c.operator = c.server.Open(namespace, memory.WithTTL(24*time.Hour)) // it holds nothing that should go
	view, err := c.operator.View(context.Background(), jobtree.For(cfg.Name).Root())
	require.NoError(t, err)
	c.view = view
	c.rec.watch(view)
	return c
}

// delayOf gives every process a network delay of its own, a fraction of a millisecond to a few, so
// that what several do at one time reaches the store in some order that a replay repeats.
func delayOf(id string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return 100*time.Microsecond + time.Duration(h.Sum32()%3_000_017)
}

// start launches a process with a delay of its own.
func (c *cluster) start(id string) *process {
	p := c.launch(id, memory.WithLatency(c.latency(id)), memory.WithSpread(c.spread(id)), memory.WithTTL(c.ttl), memory.WithDelays(c.delays(id)), memory.WithRequests(c.requests))
	c.processes = append(c.processes, p)
	return p
}

// storeDown takes the store down for a time.
func (c *cluster) storeDown(lasts time.Duration) {
	c.rec.incident(checker.Down, "", lasts, 0)
	c.server.Stop()
	time.Sleep(lasts)
	c.server.Start()
}

// state returns what the registry says of the job now.
func (c *cluster) state() *jobtree.State {
	return jobtree.StateOf(c.declared.Name, c.view.Snapshot())
}

// owner returns the process that owns an item.
func (c *cluster) owner(item int) *process {
	for _, p := range c.processes {
		if p.alive() && p.id == c.state().Owner(item) {
			return p
		}
	}
	require.Fail(c.t, "no owner", "item %d belongs to %q", item, c.state().Owner(item))
	return nil
}

func (c *cluster) tree() jobtree.Tree { return jobtree.For(c.declared.Name) }

// put writes a node as an operator would.
func (c *cluster) put(path, value string) {
	c.commit(registry.Put(path, value))
}

func (c *cluster) commit(writes ...registry.Write) {
	_, err := c.operator.Commit(context.Background(), registry.Txn{Then: writes})
	if !errors.Is(err, registry.ErrOwned) { // a careless hand holds the node
		require.NoError(c.t, err)
	}
}

// configure changes the settings of the job.
func (c *cluster) configure(change func(cfg *job.Config)) {
	stored := c.state().Config
	if stored.Revision == 0 || stored.Err != nil {
		return
	}
	cfg := stored.Value
	change(&cfg)
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(c.t, err)
	c.put(c.tree().Config(), text)
}

// trigger asks all instances to run their items once.
func (c *cluster) trigger() {
	var txn registry.Txn
	for _, i := range c.state().Instances {
		txn.If = append(txn.If, registry.CreatedAt(c.tree().Instance(i.ID), i.Created))
		txn.Then = append(txn.Then, registry.Update(c.tree().Instance(i.ID), jobtree.InstanceTriggered))
	}
	if len(txn.Then) > 0 {
		_, err := c.operator.Commit(context.Background(), txn)
		if !errors.Is(err, registry.ErrConflict) { // one of them is just gone
			require.NoError(c.t, err)
		}
	}
}

// ask has items run once by one request of the job: all of them, or one with a parameter and a fire. It takes the place
// of the one before.
func (c *cluster) ask(n int) {
	request := jobtree.Triggered{Until: time.Now().Add(time.Duration(1+n%60) * time.Second)}
	if n%3 != 0 {
		request.Items, request.Parameter = []int{n % 5}, fmt.Sprint("asked ", n)
		request.Fire = time.Now().Add(-time.Hour).Truncate(time.Second).UTC()
	}
	text, err := jobtree.EncodeTriggered(request)
	require.NoError(c.t, err)
	c.put(c.tree().Triggered(), text)
}

// bubbleStart is when the clock of every bubble starts.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// sleepUntil sleeps until so long after the start of the bubble.
func sleepUntil(d time.Duration) { time.Sleep(time.Until(bubbleStart.Add(d))) }
