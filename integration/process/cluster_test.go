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

// cluster is a set of instances over one store, and all that was done to them. What is done goes through
// it, so that it is written down.
type cluster struct {
	t         *testing.T
	dir       string
	namespace string
	rules     checker.Rules
	jobs      []job.Config
	env       environment
	recording recording
	view      *registry.View // of the namespace, by somebody who is never disturbed

	fenceAddress string // of a fenced store that the items write to; empty = they write to none

	mu        sync.Mutex
	processes []*process
	incidents []*checker.Incident
	probed    time.Time // when the store was asked that has not answered yet; zero = it has
	thaws     []thaw    // of the leader of the store, or its only server
}

// slack is what a busy machine may take beyond what is promised.
const slack = time.Second

// busy is what a machine may take beyond that which has much else to do, where a test only asks that
// something happens by itself.
const busy = 10 * time.Second

// rulesFor returns the bounds by which a cluster is judged: what is promised, and slack.
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

// newCluster makes a cluster without instances, in a namespace of its own.
func newCluster(env environment, dir string, ttl time.Duration, jobs ...job.Config) *cluster {
	t := env.t
	t.Helper()
	c := &cluster{t: t, dir: dir, namespace: newNamespace(t), rules: rulesFor(ttl), jobs: jobs, env: env, recording: env.record()}
	c.rules.Detect += env.sessionSlack
	reg, err := registryConfig{Kind: env.kind, Addresses: env.addresses, Namespace: c.namespace}.open(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	c.view, err = reg.View(t.Context(), registry.Root)
	require.NoError(t, err)
	c.probeStore()
	return c
}

// startCluster makes a cluster and starts instances of it.
func startCluster(env environment, instances int, ttl time.Duration, jobs ...job.Config) (*cluster, []*process) {
	env.t.Helper()
	c := newCluster(env, env.t.ArtifactDir(), ttl, jobs...)
	var processes []*process
	for i := range instances {
		processes = append(processes, c.start(fmt.Sprintf("127.0.0.%d@-@p1", i+1), env.addresses))
	}
	for _, p := range processes {
		require.NoError(env.t, p.awaitReady())
	}
	return c, processes
}

// start launches an instance under an id, which finds the store at the given addresses.
func (c *cluster) start(id string, addresses []string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := fmt.Sprintf("process%02d", len(c.processes)+1)
	p := &process{id: id, journal: filepath.Join(c.dir, name+".jsonl")}
	c.incidents = append(c.incidents, &checker.Incident{Kind: checker.Started, Instance: id, From: now().time()})
	p.child = launch(c.t, c.dir, name, instanceCommand(c.t, instanceSettings{
		Instance: id, Journal: p.journal, Grace: c.rules.Grace, Jobs: c.jobs, Fence: c.fenceAddress,
		Registry: registryConfig{Kind: c.env.kind, Addresses: addresses, Namespace: c.namespace, TTL: c.rules.TTL},
	}))
	c.processes = append(c.processes, p)
	return p
}

// recordIncident writes down something that happens to an instance, or to the store if it is nil, while it
// does.
func (c *cluster) recordIncident(kind checker.Kind, p *process, happens func()) {
	i := &checker.Incident{Kind: kind, From: now().time()}
	if p != nil {
		i.Instance = p.id
	}
	c.mu.Lock()
	c.incidents = append(c.incidents, i)
	c.mu.Unlock()
	happens()
	c.mu.Lock()
	defer c.mu.Unlock()
	i.Until = now().time()
}

// recordSlow writes down that from now on, and for a time, what any instance asks of the store may take long.
func (c *cluster) recordSlow(lasts, delay time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := now().time()
	c.incidents = append(c.incidents, &checker.Incident{Kind: checker.Slow, From: at, Until: at.Add(lasts), Delay: delay})
}

// thaw is when a server that led the store, or was all of it, went on after it stood still: from the moment at which it
// could, until it did.
type thaw struct{ from, until time.Time }

// recordThaw writes down that the leader of the store, or its only server, goes on after it stood still.
func (c *cluster) recordThaw(from time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.thaws = append(c.thaws, thaw{from, now().time()})
}

// kill ends an instance without a word.
func (c *cluster) kill(p *process) {
	p.killed = now().time()
	c.recordIncident(checker.Crashed, p, p.kill)
}

// stop ends an instance gracefully. If the store does not hear it meanwhile, closing the session may
// come to nothing: it is given up after the session's time.
func (c *cluster) stop(p *process) {
	asked := now().time()
	c.recordIncident(checker.Stopped, p, func() {
		p.term(func(status int) bool { return status == statusNotClosed && c.unheardSince(p, asked) })
	})
}

// unheardSince tells whether the store may not have heard an instance in time since a moment: it was down,
// or took a good part of the session's time for an answer, or the instance was cut off.
func (c *cluster) unheardSince(p *process, at time.Time) bool {
	if c.downSince(at) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	slow := c.rules.TTL / 3
	if !c.probed.IsZero() && now().time().Sub(c.probed) > slow {
		return true
	}
	return slices.ContainsFunc(c.incidents, func(i *checker.Incident) bool {
		return (i.Kind == checker.Slow && i.Delay > slow || i.Kind == checker.Cut && i.Instance == p.id) && (i.Until.IsZero() || i.Until.After(at))
	})
}

// downSince tells whether the store was down at some time since a moment.
func (c *cluster) downSince(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.incidents, func(i *checker.Incident) bool {
		return i.Kind == checker.Down && (i.Until.IsZero() || i.Until.After(at))
	})
}

// freeze has an instance stand still for a time.
func (c *cluster) freeze(p *process, lasts time.Duration) {
	c.recordIncident(checker.Paused, p, func() {
		p.signal(syscall.SIGSTOP)
		time.Sleep(lasts)
		p.signal(syscall.SIGCONT)
	})
}

// stopAll ends all instances that live, one after the other begins to.
func (c *cluster) stopAll() {
	var all sync.WaitGroup
	for _, p := range c.alive() {
		all.Go(func() { c.stop(p) })
		time.Sleep(100 * time.Millisecond)
	}
	all.Wait()
}

// alive returns the processes that run.
func (c *cluster) alive() []*process {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*process
	for _, p := range c.processes {
		select {
		case <-p.gone:
		default:
			all = append(all, p)
		}
	}
	return all
}

// find returns the live process with an instance id.
func (c *cluster) find(id string) *process {
	c.t.Helper()
	for _, p := range c.alive() {
		if p.id == id {
			return p
		}
	}
	require.Fail(c.t, "no live process is "+id)
	return nil
}

// failoverTTL is long enough for a busy machine, and short enough for a test.
const failoverTTL = 2 * time.Second

// jobOf returns a job whose items take from least to most.
func jobOf(name, cron string, items int, least, most string) job.Config {
	cfg := job.Config{Name: name, Cron: cron, ShardingTotalCount: items}
	cfg.JobParameter = least + " " + most
	return cfg
}
