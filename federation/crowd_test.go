package federation_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// crowded is a registry of which a test sees what many ask at once.
type crowded struct {
	registry.Registry
	get  func(path string) error
	view func(path string)
}

func (c crowded) Get(ctx context.Context, path string) (registry.Node, error) {
	if c.get != nil {
		if err := c.get(path); err != nil {
			return registry.Node{}, err
		}
	}
	return c.Registry.Get(ctx, path)
}

func (c crowded) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	if c.view != nil {
		c.view(path)
	}
	return c.Registry.View(ctx, path, except...)
}

// Two processes begin at the same instant, and a registry is away: whether it cannot be opened, or does not answer, they do not
// try it again in step.
func TestProcessesDoNotTryAgainInStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		began := time.Now()
		var mu sync.Mutex
		tries := make(map[string]map[time.Time]int)
		tried := func(what string) error {
			mu.Lock()
			defer mu.Unlock()
			if tries[what] == nil {
				tries[what] = make(map[time.Time]int)
			}
			if time.Since(began) > 0 {
				tries[what][time.Now()]++
			}
			return registry.ErrUnavailable
		}
		w.over = func(name string, reg registry.Registry) registry.Registry {
			if name != "a" {
				return reg
			}
			return crowded{Registry: reg, get: func(string) error { return tried("get") }}
		}
		all := jobs(1)
		var ran sync.WaitGroup
		for range 2 {
			w.start(to("b"), all)
			f, err := federation.New("x", []federation.Registry{{Name: "x", Open: func(context.Context) (registry.Registry, error) {
				return nil, tried("open")
			}}})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			ran.Go(func() { assert.NoError(t, f.Run(ctx)) })
		}
		time.Sleep(5 * time.Minute)
		w.stop()
		ran.Wait()
		for _, what := range []string{"get", "open"} {
			require.Greater(t, len(tries[what]), 2*30, "%s: every ten seconds, by two", what)
			for when, n := range tries[what] {
				require.Equal(t, 1, n, "%s %s after the beginning", what, when.Sub(began))
			}
		}
	})
}

// Many jobs move to a registry, and a process waits for each of them to arrive. It does not ask for all of that at once.
func TestManyArrivalsAreNotAwaitedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := jobs(60)
		b := w.servers["b"].Open("shop")
		for _, cfg := range all {
			text, err := jobtree.EncodeConfig(cfg)
			require.NoError(t, err)
			_, err = b.Commit(t.Context(), registry.Txn{Then: []registry.Write{
				registry.Put(jobtree.For(cfg.Name).Config(), jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "c", Move: "M", Config: text})),
			}})
			require.NoError(t, err)
		}
		require.NoError(t, b.Close(t.Context()))
		var mu sync.Mutex
		var open, most, views int
		w.over = func(name string, reg registry.Registry) registry.Registry {
			return crowded{Registry: reg, view: func(path string) {
				if name != "c" || !strings.HasSuffix(path, "/config") {
					return
				}
				mu.Lock()
				views, open = views+1, open+1
				most = max(most, open)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				open--
				mu.Unlock()
			}}
		}
		p := w.start(to("b"), nil)
		time.Sleep(time.Second)
		for _, cfg := range all {
			_, err := p.f.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
			require.NoError(t, err)
		}
		time.Sleep(10 * time.Second)
		w.stop()
		require.Equal(t, len(all), views)
		require.Equal(t, 16, most)
	})
}
