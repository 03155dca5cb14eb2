package registry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// newView returns a view that nobody feeds but the test.
func newView(path string, revision registry.Revision, nodes ...registry.Node) (*registry.View, *backend.Feed) {
	return backend.NewView(path, registry.NewSnapshot(revision, nodes),
		func(context.Context, registry.Revision) {}, func() {})
}

func put(n registry.Node) backend.Event { return backend.Event{Path: n.Path, Node: n} }
func removal(path string) backend.Event { return backend.Event{Path: path} }

func TestSubscribeTellsThePresentFirst(t *testing.T) {
	t.Parallel()
	v, feed := newView("/a", 5, node("/a/1", "", 4), node("/a", "", 5))
	var steps []registry.Step
	unsubscribe := v.Subscribe(func(s registry.Step) { steps = append(steps, s) })
	require.Len(t, steps, 1)
	require.Equal(t, []registry.Change{{New: node("/a", "", 5)}, {New: node("/a/1", "", 4)}}, steps[0].Changes)
	require.Equal(t, registry.Revision(5), steps[0].Snapshot.Revision())

	feed.Apply(6, []backend.Event{removal("/a/1")})
	require.Len(t, steps, 2)
	unsubscribe()
	unsubscribe()
	feed.Apply(7, []backend.Event{removal("/a")})
	require.Len(t, steps, 2)
}

func TestSubscribersAreToldInTheirOrder(t *testing.T) {
	t.Parallel()
	v, feed := newView(registry.Root, 1)
	var told []int
	for i := range 5 {
		v.Subscribe(func(registry.Step) { told = append(told, i) })
	}
	for r := registry.Revision(2); r < 30; r++ {
		told = nil
		feed.Apply(r, []backend.Event{put(node("/a", "", r))})
		require.Equal(t, []int{0, 1, 2, 3, 4}, told)
	}
}

// TestSubscribeWhileFed has subscribers come and go while the view moves. Each must see one unbroken
// row of changes, and nothing after it has left.
func TestSubscribeWhileFed(t *testing.T) {
	t.Parallel()
	const last = 300
	v, feed := newView(registry.Root, 1)
	var running sync.WaitGroup
	running.Go(func() {
		for r := registry.Revision(2); r <= last; r++ {
			feed.Apply(r, []backend.Event{put(node("/counter", r.String(), r))})
		}
	})
	for range 4 {
		running.Go(func() {
			for range 50 {
				var seen registry.Node
				left := false
				unsubscribe := v.Subscribe(func(s registry.Step) {
					if left || len(s.Changes) > 0 && s.Changes[0].Old != seen {
						t.Errorf("left %t, shown %s before, now %v", left, seen, s.Changes)
					}
					seen = s.Snapshot.Get("/counter")
				})
				unsubscribe()
				left = true
			}
		})
	}
	running.Wait()
	require.Equal(t, registry.Revision(last), v.Snapshot().Revision())
}

func TestWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, feed := newView(registry.Root, 1)
		found := make(chan registry.Snapshot)
		go func() {
			s, err := v.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Get("/a").Value == "2" })
			if err != nil {
				t.Error(err)
			}
			found <- s
		}()
		feed.Apply(2, []backend.Event{put(node("/a", "1", 2))})
		synctest.Wait()
		select {
		case <-found:
			require.Fail(t, "too early")
		default:
		}
		feed.Apply(3, []backend.Event{put(node("/a", "2", 3))})
		require.Equal(t, registry.Revision(3), (<-found).Revision())
	})
}

func TestWaitForWhatIsThereAsksNobody(t *testing.T) {
	t.Parallel()
	v, feed := newView(registry.Root, 1, node("/a", "", 1))
	feed.End(registry.ErrClosed)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := v.WaitFor(ended, func(s registry.Snapshot) bool { return s.Len() == 1 })
	require.NoError(t, err)
	require.Equal(t, 1, s.Len())
	require.NoError(t, v.WaitRevision(ended, 1))
}

func TestWaitForEndsWithTheCause(t *testing.T) {
	t.Parallel()
	v, feed := newView(registry.Root, 1)
	never := func(registry.Snapshot) bool { return false }
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	_, err := v.WaitFor(ctx, never)
	require.ErrorIs(t, err, reason)

	broken := errors.New("the store is gone for good")
	feed.End(broken)
	_, err = v.WaitFor(t.Context(), never)
	require.ErrorIs(t, err, broken)
}

func TestWaitRevisionAsksTheBackendOnlyIfItMust(t *testing.T) {
	t.Parallel()
	var feed *backend.Feed
	var asked []registry.Revision
	v, feed := backend.NewView(registry.Root, registry.NewSnapshot(5, nil),
		func(_ context.Context, to registry.Revision) {
			asked = append(asked, to)
			feed.Confirm(to + 1)
		}, func() {})
	require.NoError(t, v.WaitRevision(t.Context(), 5))
	require.NoError(t, v.WaitRevision(t.Context(), 7))
	require.NoError(t, v.WaitRevision(t.Context(), 8))
	require.Equal(t, []registry.Revision{7}, asked)
}

// TestSubscribersAreToldBeforeAStateShows pins the order that read-your-writes relies on: whoever
// waited for a state finds that the subscribers know.
func TestSubscribersAreToldBeforeAStateShows(t *testing.T) {
	t.Parallel()
	v, feed := newView(registry.Root, 1)
	var shown []registry.Revision
	v.Subscribe(func(registry.Step) { shown = append(shown, v.Snapshot().Revision()) })
	feed.Apply(2, []backend.Event{put(node("/a", "", 2))})
	feed.Apply(3, []backend.Event{put(node("/a", "", 3))})
	require.Equal(t, []registry.Revision{1, 1, 2}, shown)
	require.Equal(t, registry.Revision(3), v.Snapshot().Revision())
}

// TestNothingComesBetweenTheFirstCalls has the view fed while a subscriber is told of the present.
func TestNothingComesBetweenTheFirstCalls(t *testing.T) {
	t.Parallel()
	v, feed := newView(registry.Root, 1)
	fed := make(chan struct{})
	var told []registry.Revision
	v.Subscribe(func(s registry.Step) {
		if told = append(told, s.Snapshot.Revision()); len(told) > 1 {
			return
		}
		go func() {
			feed.Apply(2, []backend.Event{put(node("/a", "", 2))})
			close(fed)
		}()
		select {
		case <-fed:
			t.Error("the view went on while it was told of")
		case <-time.After(20 * time.Millisecond):
		}
	})
	<-fed
	require.Equal(t, []registry.Revision{1, 2}, told)
}

func TestWaitForEndsWithTheView(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, feed := newView(registry.Root, 1)
		reason := errors.New("the store is gone for good")
		ended := make(chan error)
		go func() { ended <- v.WaitRevision(t.Context(), 9) }()
		synctest.Wait()
		feed.End(reason)
		require.ErrorIs(t, <-ended, reason)
	})
}

func TestViewEndsOnce(t *testing.T) {
	t.Parallel()
	closed := 0
	v, feed := backend.NewView("/a", registry.Snapshot{}, func(context.Context, registry.Revision) {}, func() { closed++ })
	told := 0
	v.Subscribe(func(registry.Step) { told++ })
	v.AfterEnd(nil)
	require.Equal(t, "/a", v.Path())
	require.NoError(t, v.Err())
	reason := errors.New("first")
	feed.End(reason)
	v.Close()
	v.Close()
	<-v.Done()
	v.AfterEnd(nil)
	require.ErrorIs(t, v.Err(), reason, "the first reason stays")
	require.Equal(t, 1, closed)
	feed.Apply(9, []backend.Event{put(node("/a", "", 9))})
	require.Equal(t, 1, told, "an ended view tells nobody")
	require.Zero(t, v.Snapshot().Revision(), "so it shows nothing that its subscribers do not know")
	require.ErrorIs(t, v.WaitRevision(t.Context(), 9), reason)
}
