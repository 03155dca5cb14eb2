package scheduler_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// slowToNarrow is a registry in which a view of parts takes a while to open, and which tells when one begins to.
type slowToNarrow struct {
	*memory.Registry
	opens func()
}

func (r slowToNarrow) ViewParts(ctx context.Context, path string, parts []registry.Part, except ...func(path string) bool) (*registry.View, error) {
	r.opens()
	time.Sleep(20 * time.Millisecond)
	return r.Registry.ViewParts(ctx, path, parts, except...)
}

// While a process is about to follow its own items alone, an item of others ends a run that began before its owner came. What
// there is to tell of it keeps nobody from leaving.
func TestAStopAfterSomethingToTellWentOutOfSight(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		const items = 9
		ends, joined := make(chan struct{}), make(chan struct{})
		c.start("1", func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == items-1 && sc.Fire.Equal(bubbleStart.Add(5*time.Second)) {
				<-ends
			}
			return nil
		}, jobOf(items))
		end := sync.OnceFunc(func() { close(ends) })
		reg := slowToNarrow{c.server.Open("test"), func() {
			select {
			case <-joined:
				end()
			default:
			}
		}}
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("2")), scheduler.WithFollowing(scheduler.FollowOwn))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(items), c.record("2", nil))))
		narrow := c.run(s, reg.Registry)
		<-s.Ready()
		c.start("3", nil, jobOf(items))
		sleepUntil(12 * time.Second)
		close(joined)
		c.start("4", nil, jobOf(items))
		sleepUntil(17 * time.Second)
		<-ends
		began := time.Now()
		narrow.stop(t)
		require.Less(t, time.Since(began), time.Second)
	})
}

// refusesViews is a registry that lets nobody open another view of a job while that is told, and counts how often it is asked.
type refusesViews struct {
	*memory.Registry
	refuses atomic.Bool
	asked   atomic.Int64
}

func (r *refusesViews) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	if r.refuses.Load() {
		r.asked.Add(1)
		return nil, registry.ErrUnavailable
	}
	return r.Registry.View(ctx, path, except...)
}

func (r *refusesViews) ViewParts(ctx context.Context, path string, parts []registry.Part, except ...func(path string) bool) (*registry.View, error) {
	if r.refuses.Load() {
		r.asked.Add(1)
		return nil, registry.ErrUnavailable
	}
	return r.Registry.ViewParts(ctx, path, parts, except...)
}

// A process that wants to follow more of a job, or less, and is refused at once asks again a second later, and goes on with
// what it follows meanwhile.
func TestAViewThatIsRefusedIsAskedForOnceASecond(t *testing.T) {
	const items, span = 9, 20 * time.Second
	for name, refusedFrom := range map[string]time.Duration{"less": 0, "more": 20 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *cluster) {
				c.start("0", nil, jobOf(items))
				c.start("1", nil, jobOf(items))
				reg := &refusesViews{Registry: c.server.Open("test")}
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("2")), scheduler.WithFollowing(scheduler.FollowOwn))
				require.NoError(t, err)
				require.NoError(t, errOf(s.Add(t.Context(), jobOf(items), c.record("2", nil))))
				narrow := c.run(s, reg.Registry)
				<-s.Ready()
				time.Sleep(refusedFrom)
				reg.refuses.Store(true)
				c.start("3", nil, jobOf(items))
				time.Sleep(span)
				require.InDelta(t, span/time.Second, reg.asked.Load(), 2)
				reg.refuses.Store(false)
				time.Sleep(5 * time.Second)
				c.take()
				time.Sleep(5 * time.Second)
				require.Len(t, c.take(), items)
				narrow.stop(t)
			})
		})
	}
}
