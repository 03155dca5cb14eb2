package federation_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var names = []string{"a", "b", "c"} // a is the directory

// world is three registries and the processes over them, in the virtual time of a test.
type world struct {
	t       *testing.T
	servers map[string]*memory.Server
	book    book
	procs   []*process
	over    func(name string, reg registry.Registry) registry.Registry // what processes see of a registry; nil = all of it
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, servers: make(map[string]*memory.Server)}
	w.book.t, w.book.items = t, make(map[string]*item)
	for i, name := range names {
		w.servers[name] = memory.NewServer()
		handle := w.servers[name].Open("shop") // revisions of one registry say nothing about those of another
		for range 50 * (len(names) - i) {
			_, err := handle.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/other/node", "")}})
			require.NoError(t, err)
		}
		require.NoError(t, handle.Close(context.Background()))
	}
	t.Cleanup(func() { // of a test that has failed
		for _, p := range w.procs {
			p.kill()
		}
	})
	return w
}

// process is one that may die.
type process struct {
	w       *world
	number  int
	f       *federation.Federation
	mu      sync.Mutex
	handles map[string]*memory.Registry
	cancel  context.CancelFunc
	done    chan error
	dead    bool
}

// start starts a process that declares jobs. The rule is its own.
func (w *world) start(rule federation.Rule, jobs []job.Config, options ...federation.Option) *process {
	w.t.Helper()
	p := &process{w: w, number: len(w.procs), handles: make(map[string]*memory.Registry), done: make(chan error, 1)}
	w.procs = append(w.procs, p)
	var registries []federation.Registry
	for _, name := range names {
		registries = append(registries, federation.Registry{Name: name, Open: func(context.Context) (registry.Registry, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.handles[name] = w.servers[name].Open("shop")
			if w.over != nil {
				return w.over(name, p.handles[name]), nil
			}
			return p.handles[name], nil
		}})
	}
	if rule != nil {
		options = append(options, federation.WithRule(rule))
	}
	var err error
	p.f, err = federation.New("a", registries, options...)
	require.NoError(w.t, err)
	for _, cfg := range jobs {
		_, err := p.f.Add(w.t.Context(), cfg, p.code())
		require.NoError(w.t, err)
	}
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	go func() { p.done <- p.f.Run(ctx) }()
	return p
}

// code is what runs the items: it takes three seconds, and stops when it is told to.
func (p *process) code() job.Handler {
	return job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		end := p.w.book.begin(p, sc)
		defer end()
		select {
		case <-time.After(3 * time.Second):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// kill ends the process as SIGKILL does.
func (p *process) kill() {
	p.w.t.Helper()
	if p.dead {
		return
	}
	p.dead = true
	p.w.book.died(p)
	p.mu.Lock()
	for _, h := range p.handles {
		h.Vanish()
	}
	p.mu.Unlock()
	p.f.Vanish()
	p.cancel()
	<-p.done //nolint:errcheck // what a killed process could not tell
}

// stop ends the process gracefully.
func (p *process) stop() {
	p.w.t.Helper()
	if p.dead {
		return
	}
	p.dead = true
	p.cancel()
	if err := <-p.done; !errors.Is(err, registry.ErrUnavailable) { // of one that is away
		require.NoError(p.w.t, err)
	}
}

func (w *world) stop() {
	for _, p := range w.procs {
		p.stop()
	}
}

// operator is somebody with handles of his own, who can die.
func (w *world) operator(gate func() error) (d *home.Directory, closed func()) {
	w.t.Helper()
	handles := make(map[string]*memory.Registry)
	for _, name := range names {
		handles[name] = w.servers[name].Open("shop")
	}
	d, err := home.New("a", names, func(_ context.Context, name string) (home.Store, error) {
		return mortal{handles[name], gate}, nil
	})
	require.NoError(w.t, err)
	return d, func() {
		for _, h := range handles {
			h.Vanish()
		}
	}
}

// mortal is a registry in the hands of somebody who may die before each commit.
type mortal struct {
	*memory.Registry
	gate func() error
}

func (m mortal) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	path := txn.Then[0].Path
	asks := slices.Contains(txn.If, registry.Absent(path)) && slices.Contains(txn.If, registry.Present(path)) // whether it could write
	if m.gate != nil && !asks {
		if err := m.gate(); err != nil {
			return 0, err
		}
	}
	return m.Registry.Commit(ctx, txn)
}

// move moves a job.
func (w *world) move(job, to string) {
	w.t.Helper()
	d, closed := w.operator(nil)
	defer closed()
	moved, err := d.Move(w.t.Context(), job, to, home.MoveOptions{Who: "anna"})
	require.NoError(w.t, err)
	require.True(w.t, moved.Done)
}

// jobs are so many of two items, every ten seconds, whose missed fires are made up one by one.
func jobs(n int) (all []job.Config) {
	for i := range n {
		all = append(all, job.Config{
			Name: fmt.Sprintf("job-%02d", i), Cron: "@every 10s", ShardingTotalCount: 2, Failover: true, Misfire: job.MisfireAll,
		})
	}
	return all
}

// book is what ran, and finds what must not.
type book struct {
	t     *testing.T
	mu    sync.Mutex
	items map[string]*item
}

type item struct {
	running *process
	token   int64
	fires   map[time.Time]int // executions that were begun for it, and are no reruns
	count   int
}

func (b *book) begin(p *process, sc job.ShardingContext) (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := fmt.Sprintf("%s/%d", sc.JobName, sc.Item)
	it := b.items[name]
	if it == nil {
		it = &item{fires: make(map[time.Time]int)}
		b.items[name] = it
	}
	if it.running != nil {
		b.t.Errorf("%s: %s begins in process %d while it runs in process %d", time.Now(), name, p.number, it.running.number)
	}
	if sc.Token <= it.token {
		b.t.Errorf("%s: %s has token %d after %d", time.Now(), name, sc.Token, it.token)
	}
	it.running, it.token = p, sc.Token
	it.count++
	if sc.Source != job.Failover {
		if it.fires[sc.Fire]++; it.fires[sc.Fire] > 1 {
			b.t.Errorf("%s: %s runs twice for %s", time.Now(), name, sc.Fire)
		}
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if it.running == p {
			it.running = nil
		}
	}
}

// died forgets what a process ran.
func (b *book) died(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, it := range b.items {
		if it.running == p {
			it.running = nil
		}
	}
}

// counts returns how often each item has run.
func (b *book) counts() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := make(map[string]int)
	for name, it := range b.items {
		counts[name] = it.count
	}
	return counts
}

// ranEveryFire asserts that every fire from one time to another has run once, for every item of the jobs.
func (b *book) ranEveryFire(jobs []job.Config, from, to time.Time) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, cfg := range jobs {
		for n := range cfg.ShardingTotalCount {
			name := fmt.Sprintf("%s/%d", cfg.Name, n)
			it := b.items[name]
			require.NotNil(b.t, it, "%s never ran", name)
			for fire := from.UTC().Truncate(10 * time.Second).Add(10 * time.Second); fire.Before(to); fire = fire.Add(10 * time.Second) {
				require.Equal(b.t, 1, it.fires[fire], "%s at %s; it ran at %v", name, fire, slices.SortedFunc(maps.Keys(it.fires), time.Time.Compare))
			}
		}
	}
}

// homes returns where the jobs are, as a process sees it.
func homes(p *process) map[string]string {
	all := make(map[string]string)
	for _, j := range p.f.Jobs() {
		all[j.Name()] = j.Registry()
	}
	return all
}

func to(registry string) federation.Rule { return func(job.Config) string { return registry } }

// between lets time pass, at least d, until the middle between two fires.
func between(d time.Duration) {
	time.Sleep(d)
	now := time.Now()
	next := now.Truncate(10 * time.Second).Add(5 * time.Second)
	if next.Before(now) {
		next = next.Add(10 * time.Second)
	}
	time.Sleep(next.Sub(now))
}
