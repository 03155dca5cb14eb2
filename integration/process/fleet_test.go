//go:build linux

package process_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// fleet is a set of instances over one store, and all that was done to them. What is done goes through
// it, so that it is written down.
type fleet struct {
	t         *testing.T
	dir       string
	namespace string
	rules     checker.Rules
	jobs      []job.Config
	ground    ground
	tape      tape
	view      *registry.View // of the namespace, by somebody who is never disturbed

	fenceAddress string // of a fenced store that the items write to; empty = they write to none

	mu        sync.Mutex
	lives     []*life
	incidents []*checker.Incident
	probed    time.Time   // when the store was asked that has not answered yet; zero = it has
	thaws     []time.Time // when a leader of the store went on that had stood still
}

// slack is what a busy machine may take beyond what is promised.
const slack = time.Second

// busy is what a machine may take beyond that which has much else to do, where a test only asks that
// something happens by itself.
const busy = 10 * time.Second

// rulesFor returns the bounds by which a fleet is judged: what is promised, and slack.
func rulesFor(ttl time.Duration) checker.Rules {
	rules := checker.DefaultRules()
	rules.TTL, rules.Grace = ttl, 12*time.Second
	rules.Detect += slack
	rules.Settle += slack
	return rules
}

// namespaces counts those of this process, so that a test that is run several times finds no leftovers.
var namespaces atomic.Int64

func newNamespace(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), namespaces.Add(1))
}

// newFleet makes a fleet without instances, in a namespace of its own.
func newFleet(g ground, dir string, ttl time.Duration, jobs ...job.Config) *fleet {
	t := g.t
	t.Helper()
	f := &fleet{t: t, dir: dir, namespace: newNamespace(t), rules: rulesFor(ttl), jobs: jobs, ground: g, tape: g.record()}
	f.rules.Detect += g.late
	reg, err := place{Kind: g.kind, Addresses: g.addresses, Namespace: f.namespace}.open(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	f.view, err = reg.View(t.Context(), registry.Root)
	require.NoError(t, err)
	f.probe()
	return f
}

// smallFleet makes a fleet and starts instances of it.
func smallFleet(g ground, instances int, ttl time.Duration, jobs ...job.Config) (*fleet, []*life) {
	g.t.Helper()
	f := newFleet(g, g.t.ArtifactDir(), ttl, jobs...)
	var lives []*life
	for i := range instances {
		lives = append(lives, f.start(fmt.Sprintf("127.0.0.%d@-@p1", i+1), g.addresses))
	}
	for _, l := range lives {
		require.NoError(g.t, l.awaitReady())
	}
	return f, lives
}

// start launches an instance under an id, which finds the store at the given addresses.
func (f *fleet) start(id string, addresses []string) *life {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := fmt.Sprintf("life%02d", len(f.lives)+1)
	l := &life{id: id, journal: filepath.Join(f.dir, name+".jsonl")}
	f.incidents = append(f.incidents, &checker.Incident{Kind: checker.Started, Instance: id, From: now().time()})
	l.child = launch(f.t, f.dir, name, roleInstance, instanceSettings{
		Instance: id, Journal: l.journal, Grace: f.rules.Grace, Jobs: f.jobs, Fence: f.fenceAddress,
		Place: place{Kind: f.ground.kind, Addresses: addresses, Namespace: f.namespace, TTL: f.rules.TTL},
	})
	f.lives = append(f.lives, l)
	return l
}

// suffer writes down something that happens to an instance, or to the store if it is nil, while it
// does.
func (f *fleet) suffer(kind checker.Kind, l *life, happens func()) {
	i := &checker.Incident{Kind: kind, From: now().time()}
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
	f.incidents = append(f.incidents, &checker.Incident{Kind: checker.Slow, From: at, Until: at.Add(lasts), Delay: delay})
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
	f.suffer(checker.Crashed, l, l.kill)
}

// stop ends an instance gracefully. If the store does not hear it meanwhile, the farewell may come to
// nothing: it is given up after the session's time.
func (f *fleet) stop(l *life) {
	asked := now().time()
	f.suffer(checker.Stopped, l, func() {
		l.term(func(status int) bool { return status == statusUnheard && f.unheardSince(l, asked) })
	})
}

// unheardSince tells whether the store may not have heard an instance in time since a moment: it was down,
// or took a good part of the session's time for an answer, or the instance was cut off.
func (f *fleet) unheardSince(l *life, at time.Time) bool {
	if f.downSince(at) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	slow := f.rules.TTL / 3
	if !f.probed.IsZero() && now().time().Sub(f.probed) > slow {
		return true
	}
	return slices.ContainsFunc(f.incidents, func(i *checker.Incident) bool {
		return (i.Kind == checker.Slow && i.Delay > slow || i.Kind == checker.Cut && i.Instance == l.id) && (i.Until.IsZero() || i.Until.After(at))
	})
}

// downSince tells whether the store was down at some time since a moment.
func (f *fleet) downSince(at time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.incidents, func(i *checker.Incident) bool {
		return i.Kind == checker.Down && (i.Until.IsZero() || i.Until.After(at))
	})
}

// freeze has an instance stand still for a time.
func (f *fleet) freeze(l *life, lasts time.Duration) {
	f.suffer(checker.Paused, l, func() {
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
