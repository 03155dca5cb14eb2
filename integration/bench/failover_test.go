package bench_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/etcd"
)

// From the crash of an instance that runs an item to the start of the rerun in another. Most of it is
// up to etcd, which keeps the session for its TTL from the last keep-alive on, and looks for the ends
// of leases twice a second; that is why the time beyond the TTL may be less than nothing. What is up
// to the scheduler is what follows the end of the session, as a reader sees it.
//
// Several jobs are hurt side by side, because each waits for a TTL. Every other one loses its leader,
// too, and has to find a new one first.
func BenchmarkFailover(b *testing.B) {
	var member, leader failovers
	for b.Loop() {
		loseSeveral(b, &member, &leader)
	}
	hideTime(b)
	member.report(b, "member")
	leader.report(b, "leader")
}

// sessionTTL is the shortest that a server with etcd's default ticks grants.
const sessionTTL = 2 * time.Second

// failovers are the times that failovers took.
type failovers struct {
	total sample // from the crash to the rerun
	own   sample // from the end of the session to the rerun
}

func (f *failovers) report(b *testing.B, lost string) {
	b.Helper()
	reportMS(b, f.total.median()-sessionTTL, lost+"-beyond-ttl")
	reportMS(b, f.total.quantile(1)-sessionTTL, lost+"-beyond-ttl-max")
	reportMS(b, f.own.median(), lost+"-session-end-to-rerun")
	reportMS(b, f.own.quantile(1), lost+"-session-end-to-rerun-max")
}

// loseSeveral has some jobs fail over at the same time, each with processes of its own.
func loseSeveral(b *testing.B, member, leader *failovers) {
	b.Helper()
	namespace := newNamespace()
	reg := openEtcd(b, namespace)
	defer func() { require.NoError(b, reg.Close(context.Background())) }()
	pairs := make([]*pair, 12)
	for i := range pairs {
		name := fmt.Sprintf("job-%d", i)
		pairs[i] = newPair(b, namespace, name, newReader(b, reg, name))
		pairs[i].start(i%2 == 0)
	}
	var crashes sync.WaitGroup
	for i, p := range pairs {
		// At any time since the last keep-alive, of which there is one each third of the TTL.
		wait := time.Duration(i) * sessionTTL / 3 / time.Duration(len(pairs))
		crashes.Go(func() {
			time.Sleep(wait)
			if i%2 == 0 {
				leader.lose(p)
			} else {
				member.lose(p)
			}
		})
	}
	crashes.Wait()
	for _, p := range pairs {
		p.heir.stop()
	}
}

// lose has the victim crash, and waits for the rerun.
func (f *failovers) lose(p *pair) {
	ended := p.reader.expect(gone(victimName))
	crashed := time.Now()
	p.victim.crash()
	rerun := receive(p.b, p.reruns)
	f.total.add(rerun.Sub(crashed))
	f.own.add(rerun.Sub(receive(p.b, ended)))
}

// pair is a job of one item, its owner, which is about to crash, and its other instance.
type pair struct {
	b            *testing.B
	namespace    string
	config       job.Config
	reader       *reader
	victim, heir *process
	runs, reruns chan time.Time // when the victim and the heir began to run the item
}

func newPair(b *testing.B, namespace, name string, r *reader) *pair {
	b.Helper()
	p := &pair{
		b: b, namespace: namespace, config: yearly(name, 1), reader: r,
		runs: make(chan time.Time, 1), reruns: make(chan time.Time, 1),
	}
	p.config.Failover = true
	return p
}

// There is one item, and the last by name gets it.
const victimName, heirName = "b", "a"

// start starts both, of which the first becomes the leader, and returns when the victim runs the item.
func (p *pair) start(victimLeads bool) {
	p.b.Helper()
	if victimLeads {
		p.startVictim()
		p.reader.await(leads(victimName))
		p.startHeir()
	} else {
		p.startHeir()
		p.reader.await(leads(heirName))
		p.startVictim()
	}
	p.reader.await(spreadOver(victimName))
	p.reader.await(lives(heirName))
	j, err := p.heir.scheduler.Job(p.config.Name)
	require.NoError(p.b, err)
	_, err = j.Trigger(p.b.Context())
	require.NoError(p.b, err)
	receive(p.b, p.runs)
}

func (p *pair) startVictim() {
	p.b.Helper()
	p.victim = p.startNamed(victimName, func(ctx context.Context, _ job.ShardingContext) error {
		p.runs <- time.Now()
		<-ctx.Done()
		return ctx.Err()
	})
}

func (p *pair) startHeir() {
	p.b.Helper()
	p.heir = p.startNamed(heirName, func(_ context.Context, sc job.ShardingContext) error {
		if sc.Source == job.Failover {
			p.reruns <- time.Now()
		}
		return nil
	})
}

func (p *pair) startNamed(name string, work job.HandlerFunc) *process {
	p.b.Helper()
	reg := openEtcd(p.b, p.namespace, func(c *etcd.Config) { c.SessionTTL = sessionTTL })
	process := newProcess(p.b, reg, named(name))
	process.add(p.config, work)
	process.start()
	return process
}
