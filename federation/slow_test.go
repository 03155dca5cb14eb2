package federation_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// slowProcess is a scheduler of a registry of the world, from which it is some way off.
type slowProcess struct {
	w      *world
	handle *memory.Registry
	off    atomic.Int64 // by how much its clock is ahead
	cancel context.CancelFunc
	done   chan error
}

func (w *world) startSlow(name string, latency time.Duration, cfg job.Config) *slowProcess {
	w.t.Helper()
	p := &slowProcess{w: w, handle: w.servers[name].Open("shop", memory.WithLatency(latency)), done: make(chan error, 1)}
	s, err := scheduler.New(p.handle, scheduler.WithClock(func() time.Time { return time.Now().Add(time.Duration(p.off.Load())) }))
	require.NoError(w.t, err)
	_, err = s.Add(w.t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	require.NoError(w.t, err)
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	go func() { p.done <- s.Run(ctx) }()
	return p
}

func (p *slowProcess) stop() {
	p.w.t.Helper()
	p.handle.SetLatency(0) // or there is no time to leave
	p.cancel()
	require.NoError(p.w.t, <-p.done)
	require.NoError(p.w.t, p.handle.Close(context.Background()))
}

// nodes is what a registry has of a job.
func (w *world) nodes(name, job string) map[string]string {
	w.t.Helper()
	handle := w.servers[name].Open("shop")
	all, _, err := handle.List(w.t.Context(), jobtree.For(job).Root())
	require.NoError(w.t, err)
	require.NoError(w.t, handle.Close(w.t.Context()))
	nodes := make(map[string]string)
	for _, n := range all {
		nodes[n.Path] = n.Value
	}
	return nodes
}

// missedIn returns the fires that a registry has noted as missed by an item.
func (w *world) missedIn(name string, tree jobtree.Tree, item int) []time.Time {
	w.t.Helper()
	text, noted := w.nodes(name, tree.Job())[tree.ItemMisfire(item)]
	if !noted {
		return nil
	}
	missed, err := jobtree.DecodeMisfire(registry.Node{Value: text})
	require.NoError(w.t, err)
	return missed.Fires
}

// An item has missed fires of which its owner alone knows: it refuses to run them because of its clock, and there is nobody
// else. Before the job is closed it hears that the job stops, and notes them.
func TestAnOwnerNotesBeforeItsJobIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cfg := job.Config{
			Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1, Misfire: job.MisfireAll,
			MaxTimeDiff: 2 * time.Second, ClockPolicy: job.ClockRefuse,
		}
		tree := jobtree.For("orders")
		p := w.startSlow("b", 200*time.Millisecond, cfg)
		defer p.stop()
		between(3 * time.Minute)
		require.Empty(t, w.missedIn("b", tree, 0))
		p.off.Store(int64(5 * time.Second))
		began := time.Now().UTC().Truncate(time.Minute)
		between(5 * time.Minute)
		require.Empty(t, w.missedIn("b", tree, 0), "or nobody forgets anything")
		w.move("orders", "c")
		var want []time.Time
		for n := range 5 {
			want = append(want, began.Add(time.Duration(n+1)*time.Minute))
		}
		require.Equal(t, want, w.missedIn("c", tree, 0))
	})
}

// A process hears late that its job has moved, perhaps when its former home is tidied up already, and leaves it. Nothing of the
// job stays there but where it is.
func TestWhoLeavesTheFormerHomeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for latency := 100 * time.Millisecond; latency <= 2*time.Second; latency += 100 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.startSlow("b", latency, job.Config{
				Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 2, Misfire: job.MisfireAll,
				MaxTimeDiff: 2 * time.Second, ClockPolicy: job.ClockRefuse,
			})
			between(2 * time.Minute)
			p.off.Store(int64(5 * time.Second))
			between(3 * time.Minute)
			d, closed := w.operator(func() error { // a mover of whose steps each takes its time
				time.Sleep(500 * time.Millisecond)
				return nil
			})
			defer closed()
			_, err := d.Move(t.Context(), "orders", "c", home.MoveOptions{})
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			p.stop()
			require.Equal(t, map[string]string{"/orders/config": `{"home":"c","firstToken":1}`}, w.nodes("b", "orders"), "from %s away", latency)
		})
	}
}
