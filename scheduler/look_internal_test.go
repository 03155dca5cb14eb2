package scheduler

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// looker is peers that note each view that they are shown, and whether it is what the runner knows then.
type looker struct {
	peers.None
	runner *runner

	mu        sync.Mutex
	looks     int
	stale     []room.View
	made      map[*room.Facts]bool
	decisions int
}

func (l *looker) New(peers.Ports) peers.Peers { return l }

func (l *looker) shown(v room.View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looks++
	l.made[v.Facts] = true
	if *v.Facts != l.runner.facts() {
		l.stale = append(l.stale, v)
	}
}

func (l *looker) Before(v room.View, _ registry.Step)              { l.shown(v) }
func (l *looker) After(v room.View, _ jobtree.Touched) (plan bool) { l.shown(v); return false }
func (l *looker) Ticked(v room.View)                               { l.shown(v) }
func (l *looker) Refuses(v room.View) error                        { l.shown(v); return nil }
func (l *looker) Joined(v room.View)                               { l.shown(v) }
func (l *looker) Gone(v room.View) (gone, shutDown bool)           { l.shown(v); return false, false }
func (l *looker) LeaderDeclaresNone(v room.View) bool              { l.shown(v); return false }
func (l *looker) Urge(v room.View) room.Batch                      { l.shown(v); return nil }
func (l *looker) MayBegin(v room.View) bool                        { l.shown(v); return true }
func (l *looker) Beginning(v room.View) []registry.Condition       { l.shown(v); return nil }

func (l *looker) Decide(v room.View) []room.Batch {
	l.shown(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.decisions++
	return nil
}

// What a room is shown is what the runner knows at that moment, and no decision makes a view of its own: there
// are no more of them than there were changes.
func TestRoomsAreShownWhatIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("test")
		s, err := New(reg)
		require.NoError(t, err)
		l := &looker{made: make(map[*room.Facts]bool)}
		s.dialect = l
		nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		j, err := s.Add(t.Context(), job.Config{Name: "orders", Cron: "* * * * * ?", ShardingTotalCount: 3}, nothing)
		require.NoError(t, err)
		l.runner = j.r
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()

		l.mu.Lock()
		require.Empty(t, l.stale)
		require.Greater(t, l.decisions, 2*60, "two for each round at least")
		steps := int(j.r.applied) // each at its own revision
		require.Less(t, len(l.made), steps+10, "a view for each step, and for joining and leaving")
		require.Greater(t, l.looks, 3*len(l.made))
		l.mu.Unlock()
		stop()
		require.NoError(t, <-done)
		require.Empty(t, l.stale)
		require.NoError(t, reg.Close(t.Context()))
	})
}

// Whatever changes of what a runner knows, its rooms are shown it. A view that they have been shown stays as it is.
func TestLookShowsEachChange(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	s, err := New(reg)
	require.NoError(t, err)
	nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	r := newRunner(s, job.Config{Name: "orders"}, nothing, &plain)
	before := r.look()
	was := *before.Facts
	require.Same(t, before.Facts, r.look().Facts, "nothing has changed")
	now, attached := time.Now(), &room.Attachment{}
	for _, change := range []struct {
		name  string
		make  func()
		shows func(v room.View) bool
	}{
		{"a step", func() { r.applied = 7 }, func(v room.View) bool { return v.Applied == 7 }},
		{"a session", func() { r.attached = attached }, func(v room.View) bool { return v.Attached == attached }},
		{"settings", func() { r.settings = &configuration.Settings{OK: true, Config: &job.Config{Name: "orders"}} }, func(v room.View) bool {
			return v.Usable && v.Config == r.settings.Config
		}},
		{"blind", func() { r.blind = &blind{since: now} }, func(v room.View) bool { return v.Blind }},
		{"leaving", func() { r.departure.leaving = true }, func(v room.View) bool { return v.Leaving }},
		{"left", func() { r.membership.NoteLeft(now) }, func(v room.View) bool { return v.LeftBefore(now.Add(1)) }},
		{"no session", func() { r.attached = nil }, func(v room.View) bool { return v.Attached == nil }},
	} {
		last := r.look()
		require.False(t, change.shows(last), change.name)
		change.make()
		v := r.look()
		require.True(t, change.shows(v), change.name)
		require.NotSame(t, last.Facts, v.Facts, change.name)
		require.Equal(t, r.facts(), *v.Facts, change.name)
	}
	require.Equal(t, was, *before.Facts)
}
