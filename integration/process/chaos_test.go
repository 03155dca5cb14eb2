//go:build linux

package process_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/job"
)

const (
	chaosTTL = 3 * time.Second // a restart of etcd must not be enough to lose a session
	// calm is for how long a cluster is left alone once it should have recovered.
	calm = 1500 * time.Millisecond
)

// chaosJobs are what the cluster runs: items that are over at once, items that are always under way, and
// both with failover and misfire on and off, and items that save checkpoints.
func chaosJobs() []job.Config {
	short := jobOf("short", "* * * * * ?", 8, "5ms", "60ms")
	short.Failover = true
	long := jobOf("long", "* * * * * ?", 15, "3s", "7s") // most outlast a session that ends when they begin
	long.Failover = true
	plain := jobOf("plain", "* * * * * ?", 4, "200ms", "700ms")
	plain.Misfire = job.MisfireSkip
	every := jobOf("every", "@every 1s", 3, "300ms", "1200ms")
	every.Failover, every.Misfire = true, job.MisfireSkip
	saving := jobOf("saving", "* * * * * ?", 4, "100ms", "1500ms")
	saving.Failover = true
	saving.JobParameter += " 3"
	return []job.Config{short, long, plain, every, saving}
}

// chaos carries a plan out.
type chaos struct {
	*cluster
	store    victimStore
	slots    []*slot
	fence    *fence
	injected map[fault]int
}

// victimStore is a store that faults can be injected into.
type victimStore interface {
	// faults are those that it knows.
	faults() []fault
	// inject does what an action says to the store, and returns when all of the store runs again.
	inject(c *chaos, a action)
	// awaitService returns when the store serves.
	awaitService() error
}

// slot is where one instance at a time runs, behind a network of its own.
type slot struct {
	ip      string
	number  int
	proxies []*proxy.Proxy
	process *process
}

// TestProcesses injects faults into a cluster and its store for a while, and finds nothing to complain about.
func TestProcesses(t *testing.T) {
	t.Parallel()
	store := startEtcdCluster(t, t.ArtifactDir(), 3)
	c := newChaos(etcdEnvironment(t, store.addresses()), store, 5)
	c.run(*duration)
	require.Eventually(t, func() bool { // one whose grant nobody heard of ends by itself
		leases, err := store.members[0].client.Leases(t.Context())
		return err == nil && len(leases.Leases) == 0
	}, 2*chaosTTL+busy, 100*time.Millisecond, "leases that nobody revoked and somebody keeps alive")
	store.stop()
}

// TestProcessesOverZooKeeper does the same to a cluster over one ZooKeeper server, for half as long.
func TestProcessesOverZooKeeper(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t, zookeeper.WithTick(zkTick))
	newChaos(zkEnvironment(t, server), zkVictim{server}, 4).run(*duration / 2)
}

// run carries a plan out and has what happened judged.
func (c *chaos) run(lasts time.Duration) {
	chosen := *seed
	if chosen == 0 {
		chosen = rand.Uint64()
	}
	c.t.Logf("replay with: go test -race ./integration/process -run '^%s$' -process.seed=%d -process.duration=%s", c.t.Name(), chosen, *duration)
	began := time.Now()
	p := newPlan(chosen, c.store.faults(), len(c.slots), chaosTTL)
	for time.Since(began) < lasts {
		actions := p.next()
		c.t.Logf("%s round %d: %s", time.Now().UTC().Format("15:04:05.000"), p.round, actions)
		c.round(actions)
		for _, a := range actions {
			c.injected[a.fault]++
		}
	}
	c.stopAll()
	c.report(c.judge(), time.Since(began))
}

func newChaos(env environment, store victimStore, slots int) *chaos {
	c := &chaos{
		cluster: newCluster(env, env.t.ArtifactDir(), chaosTTL, chaosJobs()...), store: store,
		fence: newFence(), injected: make(map[fault]int),
	}
	c.fenceAddress = c.fence.serve(env.t)
	for i := range slots {
		s := &slot{ip: fmt.Sprintf("127.0.0.%d", i+1)}
		for _, address := range env.addresses {
			s.proxies = append(s.proxies, proxy.Start(env.t, address))
		}
		c.slots = append(c.slots, s)
		c.startIn(s, true)
	}
	for _, s := range c.slots {
		require.NoError(env.t, s.process.awaitReady())
	}
	c.awaitCalm()
	return c
}

// startIn starts an instance in a slot, under an id of its own or that of the one before.
func (c *chaos) startIn(s *slot, newID bool) {
	if newID {
		s.number++
	}
	var addresses []string
	for _, p := range s.proxies {
		addresses = append(addresses, p.Address())
	}
	s.process = c.start(fmt.Sprintf("%s@-@p%d", s.ip, s.number), addresses)
}

// round injects all faults of a round, waits until the cluster should have recovered, and then leaves
// it alone for a moment.
func (c *chaos) round(actions []action) {
	victims := c.victims(actions)
	var injected sync.WaitGroup
	for i, a := range actions {
		injected.Go(func() {
			time.Sleep(a.after)
			c.inject(a, victims[i])
		})
	}
	injected.Wait()
	for _, s := range c.slots {
		if err := s.process.awaitReady(); err != nil {
			c.t.Fatal(err)
		}
	}
	c.awaitCalm()
}

// victims returns whom the actions of a round hit, each another one.
func (c *chaos) victims(actions []action) []*slot {
	taken := make(map[*slot]bool)
	for _, a := range actions {
		taken[c.slots[a.slot]] = true
	}
	var victims []*slot
	for _, a := range actions {
		s := c.slots[a.slot]
		if leading := c.leading(a.n); a.fault == killLeader && leading != nil && !taken[leading] {
			taken[leading], s = true, leading
		}
		victims = append(victims, s)
	}
	return victims
}

// leading returns the slot of the leader of some job; nil if it has none just now.
func (c *chaos) leading(n int) *slot {
	leader := c.state(c.jobs[n%len(c.jobs)].Name).Leader.Instance
	for _, s := range c.slots {
		if s.process.id == leader {
			return s
		}
	}
	return nil
}

// awaitCalm waits until nothing excuses any more that something is not as it should be, and a moment more.
func (c *chaos) awaitCalm() {
	c.mu.Lock()
	var until time.Time
	for _, i := range c.incidents {
		if over := c.excusedUntil(*i); over.After(until) {
			until = over
		}
	}
	c.mu.Unlock()
	time.Sleep(until.Sub(now().time()) + calm)
}

// excusedUntil returns until when the judge makes allowances for an incident.
func (c *chaos) excusedUntil(i checker.Incident) time.Time {
	switch r := c.rules; i.Kind {
	case checker.Started:
		return i.From.Add(r.TTL + r.Detect + r.Settle)
	case checker.Crashed:
		return i.From.Add(r.TTL + r.Detect)
	case checker.Slow:
		return i.Until.Add(r.TTL + r.Settle + 4*i.Delay)
	case checker.Down: // perhaps with sessions that its new leader has granted anew
		return i.Until.Add(r.TTL + r.Settle + r.Detect)
	default:
		return i.Until.Add(r.Settle + r.Detect + slack/2)
	}
}
