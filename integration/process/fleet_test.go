//go:build linux

package process_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/history"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// fleet is a set of instances over one store, and all that was done to them. What is done goes through
// it, so that it is written down.
type fleet struct {
	t         *testing.T
	dir       string
	namespace string
	rules     history.Rules
	jobs      []job.Config
	addresses []string // of the store's members
	tape      *tape
	view      *registry.View // of the namespace, by somebody who is never disturbed

	mu        sync.Mutex
	lives     []*life
	incidents []*history.Incident
	thaws     []time.Time // when a leader of the store went on that had stood still
}

// slack is what a busy machine may take beyond what is promised.
const slack = time.Second

// rulesFor returns the bounds by which a fleet is judged: what is promised, and slack.
func rulesFor(ttl time.Duration) history.Rules {
	rules := history.DefaultRules()
	rules.TTL, rules.Grace = ttl, 12*time.Second
	rules.Detect += slack
	rules.Settle += slack
	return rules
}

// fleets counts those of this process, so that a test that is run several times finds no leftovers.
var fleets atomic.Int64

// newFleet makes a fleet without instances, in a namespace of its own.
func newFleet(t *testing.T, dir string, addresses []string, ttl time.Duration, jobs ...job.Config) *fleet {
	t.Helper()
	f := &fleet{
		t: t, dir: dir, namespace: fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), fleets.Add(1)), rules: rulesFor(ttl), jobs: jobs,
		addresses: addresses, tape: startTape(t, addresses),
	}
	reg, err := etcd.Open(t.Context(), etcd.Config{Endpoints: urls(addresses), Namespace: f.namespace, DialTimeout: patience})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	f.view, err = reg.View(t.Context(), registry.Root)
	require.NoError(t, err)
	return f
}

// smallFleet makes a fleet on the store that tests share, and starts instances of it.
func smallFleet(t *testing.T, instances int, ttl time.Duration, jobs ...job.Config) (*fleet, []*life) {
	t.Helper()
	server, err := shared()
	require.NoError(t, err)
	var addresses []string
	for _, endpoint := range server.Endpoints() {
		addresses = append(addresses, strings.TrimPrefix(endpoint, "http://"))
	}
	f := newFleet(t, t.ArtifactDir(), addresses, ttl, jobs...)
	var lives []*life
	for i := range instances {
		lives = append(lives, f.start(fmt.Sprintf("127.0.0.%d@-@1", i+1), f.addresses))
	}
	for _, l := range lives {
		require.NoError(t, l.awaitReady())
	}
	return f, lives
}

// start launches an instance under an id, which finds the store at the given addresses.
func (f *fleet) start(id string, addresses []string) *life {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := fmt.Sprintf("life%02d", len(f.lives)+1)
	l := &life{id: id, journal: filepath.Join(f.dir, name+".jsonl")}
	f.incidents = append(f.incidents, &history.Incident{Kind: history.Started, Instance: id, From: now().time()})
	l.child = launch(f.t, f.dir, name, roleInstance, instanceSettings{
		Instance: id, Journal: l.journal, Endpoints: urls(addresses), Namespace: f.namespace,
		TTL: f.rules.TTL, Grace: f.rules.Grace, Jobs: f.jobs,
	})
	f.lives = append(f.lives, l)
	return l
}

// suffer writes down something that happens to an instance, or to the store if it is nil, while it
// does.
func (f *fleet) suffer(kind history.Kind, l *life, happens func()) {
	i := &history.Incident{Kind: kind, From: now().time()}
	if l != nil {
		i.Instance = l.id
	}
	f.mu.Lock()
	f.incidents = append(f.incidents, i)
	f.mu.Unlock()
	happens()
	f.mu.Lock()
	defer f.mu.Unlock()
	i.Until = now().time()
}

// slow writes down that from now on, and for a time, what any instance asks of the store may take long.
func (f *fleet) slow(lasts, delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := now().time()
	f.incidents = append(f.incidents, &history.Incident{Kind: history.Slow, From: at, Until: at.Add(lasts), Delay: delay})
}

// thawed writes down that a leader of the store goes on that stood still.
func (f *fleet) thawed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thaws = append(f.thaws, now().time())
}

// kill ends an instance without a word.
func (f *fleet) kill(l *life) {
	l.killed = now().time()
	f.suffer(history.Crashed, l, l.kill)
}

// stop ends an instance gracefully.
func (f *fleet) stop(l *life) {
	f.suffer(history.Stopped, l, l.term)
}

// freeze has an instance stand still for a time.
func (f *fleet) freeze(l *life, lasts time.Duration) {
	f.suffer(history.Paused, l, func() {
		l.signal(syscall.SIGSTOP)
		time.Sleep(lasts)
		l.signal(syscall.SIGCONT)
	})
}

// stopAll ends all instances that live, one after the other begins to.
func (f *fleet) stopAll() {
	var all sync.WaitGroup
	for _, l := range f.alive() {
		all.Go(func() { f.stop(l) })
		time.Sleep(100 * time.Millisecond)
	}
	all.Wait()
}

// alive returns the processes that run.
func (f *fleet) alive() []*life {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*life
	for _, l := range f.lives {
		select {
		case <-l.gone:
		default:
			all = append(all, l)
		}
	}
	return all
}

// find returns the live process with an instance id.
func (f *fleet) find(id string) *life {
	f.t.Helper()
	for _, l := range f.alive() {
		if l.id == id {
			return l
		}
	}
	require.Fail(f.t, "no live process is "+id)
	return nil
}

func urls(addresses []string) []string {
	var all []string
	for _, a := range addresses {
		all = append(all, "http://"+a)
	}
	return all
}
