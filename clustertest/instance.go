package clustertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// Instance stands for one process of yours. It has a name and a server of its own. After [Instance.Restart] it is
// another process of the same name, with another instance id.
//
// Crash, Freeze, Thaw, CutOff, Heal, Slow and SetClock, and the methods that only return something, take no
// time and are safe for concurrent use. The code of jobs may call them, even on its own instance. Call the others
// from the goroutine of the test function.
type Instance struct {
	c       *Cluster
	name    string
	ip      string
	options []scheduler.Option
	ahead   atomic.Int64 // nanoseconds by which its clock is ahead

	mu        sync.Mutex
	processes []*process // one after the other; the last is the present one
}

// Start starts an instance under a name and returns when it has joined every job. This takes no time unless something
// is broken. The options are for this instance's scheduler, each time that it starts; options that the package
// sets come behind them. By default, the scheduler logs errors to the test's log.
//
// Start fails the test if the name is in use or cannot be a part of an instance id, if a job or an option is refused,
// or if the instance has not joined after a minute.
func (c *Cluster) Start(name string, options ...scheduler.Option) *Instance {
	c.tb.Helper()
	c.settle("Start")
	for _, other := range c.all() {
		if other.name == name {
			c.fatalf("there is an instance %s already: Restart starts it again", name)
		}
	}
	i := &Instance{c: c, name: name, options: slices.Clone(options)}
	i.ip = address(len(c.all()))
	i.begin("starts")
	return i
}

// address returns the server of the instance that starts as the number-th. The strategies give the first items to the
// largest address, and a reader of a test expects them on the first instance. All addresses have the same number
// of digits, because they are compared as text.
func address(number int) string {
	return fmt.Sprintf("10.0.%d.%d", 250-number/150, 250-number%150)
}

// StartN starts n instances, one after the other, as [Cluster.Start] does. They get the names a, b, c and so on, as far
// as these are not in use.
func (c *Cluster) StartN(n int, options ...scheduler.Option) []*Instance {
	c.tb.Helper()
	used := make(map[string]bool)
	for _, i := range c.all() {
		used[i.name] = true
	}
	started := make([]*Instance, 0, max(n, 0))
	for number := 0; len(started) < n; number++ {
		name := string(rune('a' + number%26))
		if round := number / 26; round > 0 {
			name += fmt.Sprint(round)
		}
		if !used[name] {
			started = append(started, c.Start(name, options...))
		}
	}
	return started
}

// Instance returns the instance of a name. It fails the test if there is none.
func (c *Cluster) Instance(name string) *Instance {
	c.tb.Helper()
	c.alive("Instance")
	for _, i := range c.all() {
		if i.name == name {
			return i
		}
	}
	c.fatalf("there is no instance %q", name)
	return nil
}

// Instances returns all instances in the order in which they were started first, those that are gone
// included.
func (c *Cluster) Instances() []*Instance { return c.all() }

// begin starts a process and waits until it has joined.
func (i *Instance) begin(deed string) {
	c := i.c
	c.tb.Helper()
	p, err := i.launch()
	if err != nil {
		c.fatalf("start %s: %v", i.name, err)
	}
	c.book.note(i.name + " " + deed)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.prepare(ctx); err != nil {
		c.fatalf("start %s: %v", i.name, err)
	}
	p.run()
	select {
	case <-p.scheduler.Ready():
	case <-p.done:
	case <-ctx.Done():
		c.fatalf("start %s: it has not joined its jobs after %s; is the registry stopped or full?", i.name, patience)
	}
	c.settle("Start")
}

// launch makes the next process of the instance.
func (i *Instance) launch() (*process, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id := i.ip + "@-@" + i.name
	if n := len(i.processes); n > 0 {
		id += fmt.Sprintf("-%d", n+1)
	}
	p := &process{
		c: i.c, i: i, id: id, handle: i.c.store.Open(namespace),
		done: make(chan struct{}), died: make(chan struct{}), gate: newGate(), executions: make(map[executionKey]*Execution),
	}
	options := append(slices.Clone(i.options),
		scheduler.WithInstanceID(id), scheduler.WithClock(i.Clock), scheduler.WithObserver(&ear{p: p}))
	options = append([]scheduler.Option{scheduler.WithLogger(p.logger())}, options...)
	s, err := i.c.build(p.handle, options...)
	if err == nil && s == nil {
		err = fmt.Errorf("the function of NewWith returned no scheduler")
	}
	if err == nil && s.InstanceID() != id {
		err = fmt.Errorf("the function of NewWith does not hand its options on to scheduler.New, behind its own: the scheduler has the instance id %s", s.InstanceID())
	}
	if err != nil {
		p.handle.Vanish()
		return nil, err
	}
	p.scheduler = s
	if len(i.processes) == 0 {
		i.c.mu.Lock()
		i.c.instances = append(i.c.instances, i)
		i.c.mu.Unlock()
	}
	i.processes = append(i.processes, p)
	return p, nil
}

// now returns the present process.
func (i *Instance) now() *process {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.processes[len(i.processes)-1]
}

// wait returns when nothing of all its processes is left.
func (i *Instance) wait() {
	i.mu.Lock()
	processes := slices.Clone(i.processes)
	i.mu.Unlock()
	for _, p := range processes {
		p.wait()
	}
}

// Name returns the name under which the instance was started.
func (i *Instance) Name() string { return i.name }

// ID returns the instance id of the present process, which the trees of jobs and logs show.
func (i *Instance) ID() string { return i.now().id }

// Scheduler returns the scheduler of the present process. Use it for whatever a scheduler can do, such as
// [scheduler.Scheduler.Health], but do not call Run, StopNow and Vanish: use the methods of Instance.
func (i *Instance) Scheduler() *scheduler.Scheduler { return i.now().scheduler }

// Handle returns the registry handle of the present process. It has faults for which Instance has no method, such as
// [memory.Registry.Expire] or [memory.Registry.LoseAnswers].
func (i *Instance) Handle() *memory.Registry { return i.now().handle }

// Running tells whether the instance has neither stopped nor crashed. An instance that is frozen or cut off is
// running.
func (i *Instance) Running() bool { return i.now().is(running) }

// Clock returns the time on the instance's clock; see [Instance.SetClock].
func (i *Instance) Clock() time.Time { return time.Now().Add(time.Duration(i.ahead.Load())) }

// Stop makes the instance leave, as a process does on SIGTERM: it hands over its items, finishes what it runs
// within its stop timeout, and closes its registry handle. Stop returns when all of this is done, which takes
// as long as the code takes. If the instance is not running, Stop does nothing.
//
// Stop fails the test if the instance is frozen, or if it cannot end what it runs.
func (i *Instance) Stop() {
	c := i.c
	c.tb.Helper()
	c.settle("Stop")
	p := i.now()
	if !p.is(running) {
		return
	}
	if p.gate.isShut() {
		c.fatalf("stop %s: it is frozen and hears nothing; Thaw or Crash it first", i.name)
	}
	c.book.note(i.name + " stops")
	if err := p.stop(); err != nil {
		c.fatalf("stop %s: %v", i.name, err)
	}
	c.settle("Stop")
}

// Restart starts the instance again, as another process with another id, and returns when it has joined its
// jobs. If it is running, Restart first calls [Instance.Stop]. The instance's clock stays as it is; its network is
// whole and quick again.
func (i *Instance) Restart() {
	i.c.tb.Helper()
	i.Stop()
	i.c.settle("Restart")
	i.begin("starts again")
}
