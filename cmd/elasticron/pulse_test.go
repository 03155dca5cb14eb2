package main

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/serverprocess"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/memory"
)

// A list that is watched says once that its registry is away, and once that it is back. Meanwhile nothing ages: no row is
// written, as nothing of it is known. What has changed by then is shown after it.
func TestWatchSaysThatTheRegistryIsAway(t *testing.T) {
	t.Parallel()
	for name, through := range map[string]bool{"directly": false, "through a server": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			began := time.Now()
			w.now = func() time.Time { return noon.Add(time.Since(began)) }
			flags := on()
			if through {
				flags = w.withServer(t)
			}
			out, errOut, stop := w.watches(t, append([]string{"get", "items", "-w", "--match", "orders", "-o", "json"}, flags...))
			says := func(text string) {
				t.Helper()
				require.Eventually(t, func() bool { return strings.Contains(errOut.String(), text) }, time.Minute, time.Millisecond, text)
			}
			require.Eventually(t, func() bool { return out.String() != "" }, time.Minute, time.Millisecond, errOut.String())
			w.etcdServer.Stop()
			says("no answer since 2026-03-02 12:00:")
			shown := out.String()
			time.Sleep(2 * mostPause) // in which something would be shown
			require.Equal(t, shown, out.String())
			w.etcdServer.Start()
			says("it answers again")
			put(t, w.hand(t), "/orders/sharding/0/disabled", "")
			require.Eventually(t, func() bool { return strings.Count(out.String(), `"ITEM_DISABLED"`) == 1 }, time.Minute, time.Millisecond, errOut.String())
			require.Zero(t, stop(), errOut.String())
			require.Equal(t, 2, strings.Count(errOut.String(), "elasticron: "), "each is said once: %s", errOut.String())
		})
	}
}

// neverGets is a registry that goes away when its namespace has been read.
type neverGets struct{ *memory.Registry }

func (neverGets) Get(ctx context.Context, _ string) (registry.Node, error) {
	<-ctx.Done()
	return registry.Node{}, ctx.Err()
}

// What is watched is shown though nobody says where the job that is named, and is not there, has gone.
func TestWatchOfAJobThatIsNotThereAsTheRegistryGoes(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	g := &getting{program: w.program, list: listJobs(), want: selection{name: "nobody"}}
	var out, errOut serverprocess.Output
	done := make(chan error, 1)
	at := neverGets{w.hand(t)}
	go func() { done <- g.follow(ctx, &out, &errOut, at) }()
	require.Eventually(t, func() bool { return out.String() != "" }, 4*silentFor, time.Millisecond)
	require.Contains(t, errOut.String(), "what comes of it is shown")
	stop()
	require.NoError(t, <-done)
}

// If all of several registries are away, it is as if one were.
func TestWatchSaysThatAllRegistriesAreAway(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	out, errOut, stop := w.watches(t, []string{"get", "jobs", "-w", "-o", "json"})
	require.Eventually(t, func() bool { return strings.Contains(out.String(), `"report"`) }, time.Minute, time.Millisecond, errOut.String())
	w.etcdServer.Stop()
	require.Eventually(t, func() bool { return strings.Contains(errOut.String(), "what is shown is as of then: registry ") },
		time.Minute, time.Millisecond, errOut.String())
	w.etcdServer.Start()
	require.Eventually(t, func() bool { return strings.Contains(errOut.String(), "it answers again") }, time.Minute, time.Millisecond, errOut.String())
	require.Zero(t, stop(), errOut.String())
}

// silence is a follower whose registry answers what a test says.
type silence struct {
	follower
	err error
}

func (s *silence) answers(context.Context, bool) error { return s.err }

// While nobody answers, a state is looked at as of when it was true, or came.
func TestTheClockOfWhatIsNotKnownAnyMore(t *testing.T) {
	t.Parallel()
	now := noon
	of := &silence{}
	p := newPulse(t.Context(), of, func() time.Time { return now })
	p.close() // the test asks itself
	ask := func(seconds int, err error) {
		now, of.err, p.heard = noon.Add(time.Duration(seconds)*time.Second), err, p.heard.Add(-silentFor)
		p.ask(t.Context())
	}
	at := func(revision registry.Revision) int {
		return int(p.clock(registry.NewSnapshot(revision, nil)).Sub(noon).Seconds())
	}
	require.Equal(t, 0, at(1))
	ask(10, nil)
	now = noon.Add(12 * time.Second)
	require.Equal(t, 12, at(1))
	require.Empty(t, p.news())
	ask(20, registry.ErrUnavailable)
	require.Equal(t, 10, at(1))
	require.Contains(t, p.news(), "no answer since 2026-03-02 12:00:13 UTC")
	require.Equal(t, 20, at(2), "which is news")
	ask(30, registry.ErrUnavailable)
	require.Equal(t, 20, at(2))
	require.Empty(t, p.news(), "it is said once")
	ask(40, partAway{[]string{"two"}, registry.ErrUnavailable})
	require.Equal(t, 40, at(2), "the other registries go on")
	require.Contains(t, p.news(), "no answer from two, whose jobs are shown as they were")
	ask(45, partAway{[]string{"two", "three"}, registry.ErrUnavailable})
	require.Contains(t, p.news(), "no answer from two, three, ")
	ask(46, partAway{[]string{"two", "three"}, registry.ErrUnavailable})
	require.Empty(t, p.news(), "it is said once")
	ask(50, nil)
	require.Equal(t, 50, at(2))
	require.Contains(t, p.news(), "answers again")
	require.Empty(t, p.news())
}

// restored is a registry that can go back to its first revision.
type restored struct {
	registry.Registry
	back *atomic.Bool
}

func (r restored) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	nodes, revision, err := r.Registry.List(ctx, path)
	if r.back.Load() {
		revision = 1
	}
	return nodes, revision, err
}

// A view of a registry that was restored from a backup shows nothing of what changes. A list that is watched ends with that.
func TestWatchOfARegistryThatGoesBack(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	var back atomic.Bool
	open := w.etcd
	w.etcd = func(ctx context.Context, c etcd.Config) (registry.Registry, error) {
		reg, err := open(ctx, c)
		return restored{reg, &back}, err
	}
	var out, errOut serverprocess.Output
	done := make(chan int, 1)
	go func() { done <- w.run(t.Context(), on("get", "jobs", "-w", "-o", "name"), &out, &errOut) }()
	require.Eventually(t, func() bool { return out.String() != "" }, time.Minute, time.Millisecond, errOut.String())
	back.Store(true)
	require.Equal(t, exitFailed, <-done)
	require.Equal(t, "elasticron: the registry has gone back to an earlier state, so what changes is not shown: begin again"+
		" (it is at revision 1, and was at 2)\n", errOut.String())
}
