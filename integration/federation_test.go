package integration_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// runs counts executions by job, and keeps the tokens.
type runs struct {
	mu     sync.Mutex
	count  map[string]int
	tokens map[string]int64
	wrong  []string
}

func (r *runs) Run(_ context.Context, sc job.ShardingContext) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count[sc.JobName]++
	if key := fmt.Sprintf("%s/%d", sc.JobName, sc.Item); sc.Token <= r.tokens[key] {
		r.wrong = append(r.wrong, fmt.Sprintf("%s has token %d after %d", key, sc.Token, r.tokens[key]))
	} else {
		r.tokens[key] = sc.Token
	}
	return nil
}

func (r *runs) of(job string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count[job]
}

// Three etcd clusters, of which one is killed: its jobs stand, those of the others go on, in a process that was there and in
// one that starts meanwhile; when it is back, so are they. A job moves between clusters, and its tokens only grow.
func TestOneOfThreeClustersIsKilled(t *testing.T) {
	t.Parallel()
	names := []string{"one", "three", "two"}
	servers := make(map[string]*etcdserver.Server)
	var registries []federation.Registry
	for _, name := range names {
		s, err := etcdserver.Start(t.Context(), etcdserver.WithFastTest())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		servers[name] = s
		registries = append(registries, federation.Registry{Name: name, Open: func(ctx context.Context) (registry.Registry, error) {
			return etcd.Open(ctx, etcd.Config{Endpoints: s.Endpoints(), Namespace: "shop"})
		}})
	}
	ran := &runs{count: make(map[string]int), tokens: make(map[string]int64)}
	rule := func(cfg job.Config) string { return cfg.Name[len("of-"):] }
	start := func() (*federation.Federation, func()) {
		f, err := federation.New("one", registries, federation.WithRule(rule), federation.WithPatience(2*time.Second))
		require.NoError(t, err)
		for _, name := range names {
			_, err := f.Add(t.Context(), job.Config{Name: "of-" + name, Cron: "@every 1s", ShardingTotalCount: 2}, job.HandlerFunc(ran.Run))
			require.NoError(t, err)
		}
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- f.Run(ctx) }()
		var once sync.Once
		end := func() {
			once.Do(func() {
				stop()
				require.NoError(t, <-done)
			})
		}
		t.Cleanup(end)
		return f, end
	}
	goesOn := func(jobs ...string) {
		t.Helper()
		for _, name := range jobs {
			before := ran.of(name)
			require.Eventually(t, func() bool { return ran.of(name) >= before+6 }, time.Minute, 50*time.Millisecond, name)
		}
	}
	first, endFirst := start()
	goesOn("of-one", "of-two", "of-three")

	servers["two"].Kill()
	require.Eventually(t, func() bool { return first.Health(t.Context()).Blind != "" }, time.Minute, 50*time.Millisecond)
	stands := ran.of("of-two")
	second, endSecond := start()
	goesOn("of-one", "of-three")
	require.Equal(t, stands, ran.of("of-two"), "what its cluster does not confirm does not run")
	for _, f := range []*federation.Federation{first, second} {
		h := f.Health(t.Context())
		require.True(t, health.Ready(h).OK, "%v", health.Ready(h).Reasons)
		require.False(t, health.Cluster(h).OK)
		require.Contains(t, h.Blind, "registry two")
	}

	require.NoError(t, servers["two"].Restart(t.Context()))
	goesOn("of-two", "of-one")
	settled := func(f *federation.Federation, name, at string) {
		t.Helper()
		require.Eventually(t, func() bool {
			j, err := f.Job(name)
			return err == nil && j.Waits() == nil && j.Registry() == at
		}, time.Minute, 50*time.Millisecond, "%s in %s", name, at)
	}
	settled(second, "of-two", "two")

	// A store that has just come back may be slow to answer, and a move that finds it away is called once more.
	moved, err := second.Directory().Move(t.Context(), "of-one", "two", home.MoveOptions{Who: "anna"})
	for tries := 0; errors.Is(err, home.ErrAway) && tries < 20; tries++ {
		moved, err = second.Directory().Move(t.Context(), "of-one", "two", home.MoveOptions{Who: "anna"})
	}
	require.NoError(t, err)
	require.True(t, moved.Done)
	settled(first, "of-one", "two")
	settled(second, "of-one", "two")
	goesOn("of-one", "of-two", "of-three")
	endFirst()
	goesOn("of-one", "of-two", "of-three")
	endSecond()
	require.Empty(t, ran.wrong)
}
