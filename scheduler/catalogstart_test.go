package scheduler_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// hidingViews is a registry that takes a while to open the views of jobs, and opens none of orders while it hides that.
type hidingViews struct {
	*memory.Registry
	takes time.Duration

	mu    sync.Mutex
	hides bool
}

func (s *hidingViews) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	if path != registry.Root {
		time.Sleep(s.takes)
	}
	s.mu.Lock()
	hidden := s.hides && path == jobtree.For("orders").Root()
	s.mu.Unlock()
	if hidden {
		return nil, registry.ErrDenied
	}
	return s.Registry.View(ctx, path, except...)
}

// hide hides orders, or does not any more.
func (s *hidingViews) hide(hidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hides = hidden
}

// serveHiding is serveJobs over slow views.
func (c *cluster) serveHiding(reg *hidingViews, observers ...func(scheduler.Event)) *instance {
	c.t.Helper()
	reg.Registry = c.server.Open("test")
	opts := append(handlers(c, "a", nil, "index"), scheduler.WithInstanceID(fullID("a")))
	for _, observe := range observers {
		opts = append(opts, scheduler.WithObserver(scheduler.ObserverFunc(observe)))
	}
	s, err := scheduler.New(reg, opts...)
	require.NoError(c.t, err)
	return c.run(s, reg.Registry)
}

// Jobs of the registry are taken up together, and not one after the other; a process is ready when it has.
func TestJobsOfTheRegistryStartTogether(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const jobs = 300
		for i := range jobs {
			c.store(ofClass("job"+strconv.Itoa(i), "index", 1))
		}
		began := time.Now()
		i := c.serveHiding(&hidingViews{takes: time.Second})
		<-i.Ready()
		require.GreaterOrEqual(t, time.Since(began), time.Second)
		require.Less(t, time.Since(began), 5*time.Second)
		time.Sleep(5 * time.Second)
		for _, j := range i.Health(t.Context()).Jobs {
			require.True(t, j.Joined, j.Job)
		}
	})
}

// A job that cannot be read keeps nobody up, shows why, and is run as soon as it can be read.
func TestAHiddenJobOfTheRegistryIsTakenUpLater(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(ofClass("orders", "index", 1))
		c.store(ofClass("bills", "index", 1))
		reg, views := &hidingViews{}, &heardViews{}
		reg.hide(true)
		i := c.serveHiding(reg, views.hear)
		<-i.Ready()
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 2, "of bills")
		orders := jobHealth(t, i, "orders")
		require.Equal(t, registry.ErrDenied.Error(), orders.Blind)
		require.False(t, orders.Joined)
		require.Equal(t, []error{registry.ErrDenied}, views.of("orders"))

		reg.hide(false)
		sleepUntil(21 * time.Second)
		require.GreaterOrEqual(t, len(c.take()), 3)
		orders = jobHealth(t, i, "orders")
		require.Empty(t, orders.Blind)
		require.True(t, orders.Joined)
		require.Equal(t, []error{registry.ErrDenied, nil}, views.of("orders"))
	})
}

// One that goes before it could be read is forgotten, and taken up when it is back.
func TestAHiddenJobOfTheRegistryGoesAndComes(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]time.Duration{"refused": 0, "while it is being opened": 4 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.store(ofClass("orders", "index", 1))
				reg, views := &hidingViews{takes: takes}, &heardViews{}
				reg.hide(takes == 0)
				i := c.serveHiding(reg, views.hear)
				sleepUntil(2 * time.Second)
				c.removeJob("orders")
				sleepUntil(3 * time.Second)
				require.Empty(t, i.Health(t.Context()).Jobs)
				require.Empty(t, i.Jobs())
				reg.hide(false)
				sleepUntil(8 * time.Second)
				require.Empty(t, c.members(), "it is gone")
				require.NotContains(t, views.last(), "orders")

				c.store(ofClass("orders", "index", 1))
				sleepUntil(16 * time.Second)
				require.NotEmpty(t, c.take())
				require.True(t, jobHealth(t, i, "orders").Joined)
			})
		})
	}
}

// A join that is carried out late while the job is on the list again, and cannot be read, is taken back when the job goes.
func TestALateJoinWhileAJobOfTheRegistryIsHidden(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &hidingViews{}
		a := c.serveHiding(reg)
		time.Sleep(time.Second)
		a.registry.DuplicateLater(1, 10*time.Second)
		c.store(ofClass("orders", "index", 2))
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 2)
		c.store(ofClass("orders", "other", 2)) // of which it has no handler
		sleepUntil(9 * time.Second)
		require.Empty(t, c.members())
		reg.hide(true)
		c.store(ofClass("orders", "index", 2))
		sleepUntil(14 * time.Second)
		require.NotEmpty(t, c.members(), "the join came again")
		c.store(ofClass("orders", "other", 2))
		sleepUntil(20 * time.Second)
		require.Empty(t, c.members())
	})
}

// A stop waits for no job that cannot be read.
func TestAHiddenJobOfTheRegistryKeepsNoStopUp(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]time.Duration{"refused": 0, "while it is being opened": 4 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.store(ofClass("orders", "index", 1))
				reg := &hidingViews{takes: takes}
				reg.hide(true)
				i := c.serveHiding(reg)
				sleepUntil(time.Second)
				i.stop(t)
				require.Less(t, time.Since(midnight()), 6*time.Second)
			})
		})
	}
}

// heardViews is what observers hear of views.
type heardViews struct {
	mu  sync.Mutex
	all map[string][]error // by job
	now map[string]error   // of jobs that were not left
}

func (h *heardViews) hear(e scheduler.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all, h.now = make(map[string][]error), make(map[string]error)
	}
	switch e := e.(type) {
	case scheduler.ViewEvent:
		h.all[e.Job] = append(h.all[e.Job], e.Err)
		h.now[e.Job] = e.Err
	case scheduler.LeftEvent:
		delete(h.now, e.Job)
	}
}

func (h *heardViews) of(job string) []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[job]
}

func (h *heardViews) last() map[string]error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}
