package clustertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

const (
	namespace = "test"
	// patience is how long, in virtual time, something may take that waits for nothing.
	patience = time.Minute
	// codePatience is how long, in virtual time, code may go on after its instance has ended.
	codePatience = 24 * time.Hour
)

// Cluster is the cluster of a test: a registry, the jobs in it, and the instances that take part. [Run] makes it.
//
// Call its methods from the goroutine of the test function, one at a time. The code of jobs may call some methods of
// [Instance], which says so. A method that cannot do its work fails the test and does not return.
type Cluster struct {
	tb    testing.TB // of the test function
	outer testing.TB // that called Run
	ended atomic.Bool

	store    *memory.Server
	operator *memory.Registry
	view     *registry.View // of all jobs, by the operator
	book     *book
	build    func(registry.Registry, ...scheduler.Option) (*scheduler.Scheduler, error)
	declared []declaration
	setups   []func(context.Context, *Instance) error
	code     sync.WaitGroup // code of items that runs

	mu        sync.Mutex
	instances []*Instance // in the order in which they were started first
}

// Run calls test with an empty cluster, in a bubble of package testing/synctest, and returns when
// nothing that was started in it is left. Inside, use the t that test receives. It belongs to the bubble and has
// the limits of [synctest.Test]: no t.Run, no t.Parallel. Call Parallel before Run.
//
// When test returns or fails, Run ends whatever still runs, as [Instance.Crash] does; this does not fail the test. Items' code
// that goes on all the same has a day of virtual time to return, or the test fails. Then the functions of t.Cleanup run, and all
// else, such as listeners and handlers, has a day. A goroutine that takes longer, or waits for ever, ends the test with synctest's
// report of a deadlock. What ticks beside the cluster should be ended by t.Cleanup or t.Context, or it ticks for that day.
//
// Run makes a bubble of its own, so it fails the test if it is called in one. The cluster must not be used after
// Run.
func Run(t *testing.T, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	if test == nil {
		t.Fatal("clustertest: Run: the function is nil")
	}
	if inBubble() {
		t.Fatal("clustertest: Run makes a synctest bubble of its own and cannot be called in one: call it where synctest.Test was")
	}
	synctest.Test(t, func(inner *testing.T) {
		c := newCluster(inner, t)
		inner.Cleanup(waitForTheRest) // after the test's own have ended what ticks beside the cluster
		defer c.end()
		test(inner, c)
	})
}

// inBubble tells whether the caller is in a synctest bubble. It can tell only by calling Wait, which panics outside
// of a bubble, and also if another goroutine of the bubble waits.
func inBubble() (in bool) {
	defer func() {
		if reason := recover(); reason != nil {
			in = !strings.Contains(fmt.Sprint(reason), "not in a bubble")
		}
	}()
	synctest.Wait()
	return true
}

func newCluster(tb, outer testing.TB) *Cluster {
	c := &Cluster{tb: tb, outer: outer, store: memory.NewServer(), book: newBook(), build: scheduler.New}
	c.operator = c.store.Open(namespace, memory.WithTTL(24*time.Hour)) // it holds nothing that should go
	view, err := c.operator.View(context.Background(), registry.Root)
	if err != nil {
		c.operator.Vanish()
		outer.Fatalf("clustertest: %v", err)
	}
	c.view = view
	view.Subscribe(c.book.follow)
	return c
}

// end ends all that is left, in the bubble.
func (c *Cluster) end() {
	instances := c.all()
	for _, i := range instances {
		i.now().kill()
	}
	for _, i := range instances {
		i.wait()
	}
	c.operator.Vanish()
	c.waitForCode()
	c.ended.Store(true)
}

// waitForCode waits for items' code that goes on after its instance has ended.
func (c *Cluster) waitForCode() {
	done := make(chan struct{})
	go func() {
		c.code.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(codePatience):
		c.tb.Errorf("clustertest: this code has not returned a day after the end of its context: %s",
			strings.Join(c.book.unreturned(), "; "))
	}
}

// waitForTheRest waits for hooks, handlers and whatever else of the application goes on. Nobody knows all of it, so a day passes,
// which takes no time where nothing is left. Afterwards time stands still, and what sleeps then would pass for what waits for ever.
func waitForTheRest() { time.Sleep(codePatience) }

// all returns the instances.
func (c *Cluster) all() []*Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.instances)
}

// fatalf fails the test and does not return.
func (c *Cluster) fatalf(format string, args ...any) {
	c.tb.Helper()
	c.tb.Fatalf("clustertest: "+format, args...)
}

// alive fails the test if the cluster is over.
func (c *Cluster) alive(method string) {
	c.outer.Helper()
	if c.ended.Load() {
		c.outer.Fatalf("clustertest: %s was called after the test function of Run had returned", method)
	}
}

// settle waits until nothing happens any more at this moment, and fails the test if an instance has come
// to its end by itself.
func (c *Cluster) settle(method string) {
	c.tb.Helper()
	c.alive(method)
	if !inBubble() {
		c.outer.Fatalf("clustertest: %s was called outside of the bubble that Run made: only the test function of Run, and what it starts, may use the cluster", method)
	}
	for _, i := range c.all() {
		p := i.now()
		if err, failed := p.failed(); failed {
			c.fatalf("%s has ended by itself: %v", i.name, err)
		}
	}
}

// Advance lets time pass, and returns when everything that was due in this time has happened. This includes what
// is due in the very last instant, such as a fire; only work that takes time is still under way.
func (c *Cluster) Advance(d time.Duration) {
	c.tb.Helper()
	if d < 0 {
		c.alive("Advance")
		c.fatalf("Advance by %s: time does not go back", d)
	}
	c.settle("Advance")
	time.Sleep(d)
	c.settle("Advance")
}

// AdvanceTo is [Cluster.Advance] until a point in time. Before the first instance starts, it is cheap, however far
// away that is.
func (c *Cluster) AdvanceTo(t time.Time) {
	c.tb.Helper()
	c.settle("AdvanceTo")
	if d := time.Until(t); d < 0 {
		c.fatalf("AdvanceTo %s: it is %s already", t.UTC().Format(time.DateTime), time.Now().UTC().Format(time.DateTime))
	}
	time.Sleep(time.Until(t))
	c.settle("AdvanceTo")
}

// At returns the time so long after the beginning of the test function, which is midnight, 2000-01-01 UTC.
func At(d time.Duration) time.Time {
	return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(d)
}

// declaration is a job that every instance declares.
type declaration struct {
	cfg     job.Config
	code    job.Handler
	options []scheduler.JobOption
}

// Job declares a job on every instance: on those that run, at once, and on others when they start. If code is nil,
// the items do nothing; with [Work] they take a while. All instances share the one value of code, as if they
// shared the memory of one process. If it remembers something that a crash should lose, use [Cluster.Setup].
//
// Job fails the test if a scheduler refuses the declaration.
func (c *Cluster) Job(cfg job.Config, code job.Handler, options ...scheduler.JobOption) {
	c.tb.Helper()
	c.settle("Job")
	if code == nil {
		code = Work(0)
	}
	if err := cfg.Validate(); err != nil {
		c.fatalf("job %q: %v", cfg.Name, err)
	}
	d := declaration{cfg: cfg, code: code, options: options}
	for _, other := range c.declared {
		if other.cfg.Name == cfg.Name {
			c.fatalf("job %q is declared already: Update changes its settings", cfg.Name)
		}
	}
	c.declared = append(c.declared, d)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, i := range c.all() {
		p := i.now()
		if !p.is(running) {
			continue
		}
		if err := p.declare(ctx, d); err != nil {
			c.fatalf("job %q on %s: %v", cfg.Name, i.name, err)
		}
	}
	c.settle("Job")
}

// Setup sets a function that declares jobs as the application does, with [scheduler.Scheduler.Add] on
// [Instance.Scheduler]. The cluster calls it for each process that starts from now on, before its scheduler runs.
// An error fails the test. If Setup is called several times, the cluster calls all functions in order.
//
// A test knows a little less about code that is declared like this. It learns that the code has returned only when
// the registry knows it, and such code begins and ends in an instance although the instance is frozen.
func (c *Cluster) Setup(declare func(ctx context.Context, i *Instance) error) {
	c.tb.Helper()
	c.settle("Setup")
	if declare == nil {
		c.fatalf("Setup: the function is nil")
	}
	c.setups = append(c.setups, declare)
}

// NewWith sets the constructor of schedulers, for applications that have their own. It holds for processes that
// start from now on; the default is scheduler.New. build must pass on the options that it receives to
// [scheduler.New], behind its own options, because the test needs them.
func (c *Cluster) NewWith(build func(registry.Registry, ...scheduler.Option) (*scheduler.Scheduler, error)) {
	c.tb.Helper()
	c.settle("NewWith")
	if build == nil {
		c.fatalf("NewWith: the function is nil")
	}
	c.build = build
}

// Store returns the registry's server, so that a test can break it as a whole: [memory.Server.Stop], SetFull, SetPace.
// The instances use its namespace "test".
func (c *Cluster) Store() *memory.Server { return c.store }

// Operator returns a registry handle that belongs to no instance and is never disturbed. Use it to look at the
// trees of jobs, or to change them in a way that no method of Cluster does. It is closed when the test function
// returns.
func (c *Cluster) Operator() *memory.Registry { return c.operator }
