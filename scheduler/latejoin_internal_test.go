package scheduler

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

const myself = "10.0.0.1@-@me"

// leaver is a process that joins jobs and leaves them, over a server in a bubble.
type leaver struct {
	*Scheduler
	t      *testing.T
	server *memory.Server
	reg    *memory.Registry

	mu      sync.Mutex
	touched []string // what was written, by the process alone
	refused int      // how many commits more are refused
}

// Commit implements [registry.Committer].
func (l *noting) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	l.of.mu.Lock()
	for _, w := range txn.Then {
		l.of.touched = append(l.of.touched, w.Path)
	}
	refused := l.of.refused > 0
	l.of.refused--
	l.of.mu.Unlock()
	if refused {
		return 0, registry.ErrUnavailable
	}
	return l.Registry.Commit(ctx, txn)
}

type noting struct {
	*memory.Registry
	of *leaver
}

func withLeaver(t *testing.T, test func(t *testing.T, l *leaver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		l := &leaver{t: t, server: server, reg: server.Open("test")}
		var err error
		l.Scheduler, err = New(&noting{l.reg, l}, WithInstanceID(myself))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		defer func() {
			cancel()
			require.NoError(t, <-done)
			require.NoError(t, l.reg.Close(context.Background()))
		}()
		<-l.Ready()
		test(t, l)
	})
}

// leave joins a job and leaves it.
func (l *leaver) leave(name string) {
	l.t.Helper()
	cfg := job.Config{Name: name, Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1}
	j, err := l.Add(l.t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	require.NoError(l.t, err)
	require.NoError(l.t, j.Leave(l.t.Context()))
}

func (l *leaver) watched() map[string]*leftJob {
	l.Scheduler.mu.Lock()
	defer l.Scheduler.mu.Unlock()
	return l.left
}

// lateJoin has the registry carry out a join of a job once more, which is taken back soon.
func (l *leaver) lateJoin(name string) {
	l.t.Helper()
	l.joinLate(name)
	time.Sleep(5 * time.Second)
	require.False(l.t, l.joined(name), "it was taken back")
}

// joinLate is lateJoin without what follows.
func (l *leaver) joinLate(name string) {
	l.t.Helper()
	session, err := l.reg.Session(l.t.Context())
	require.NoError(l.t, err)
	_, err = l.reg.Commit(l.t.Context(), registry.Txn{
		Then:   []registry.Write{registry.PutOwned(jobtree.For(name).Instance(myself), "", session)},
		Repeat: registry.RepeatOwned,
	})
	require.NoError(l.t, err)
}

// joined tells whether the process is registered in a job.
func (l *leaver) joined(name string) bool {
	l.t.Helper()
	_, err := l.reg.Get(l.t.Context(), jobtree.For(name).Instance(myself))
	if err == nil {
		return true
	}
	require.ErrorIs(l.t, err, registry.ErrNotFound)
	return false
}

// Who leaves a job looks at that one alone, however many were left before.
func TestALeaveLooksAtNoOtherJob(t *testing.T) {
	t.Parallel()
	withLeaver(t, func(t *testing.T, l *leaver) {
		l.leave("other")
		time.Sleep(time.Second)
		l.Scheduler.mu.Lock()
		l.left["other"].node = registry.Node{Path: jobtree.For("other").Instance(myself), Created: 1, Revision: 1, Session: l.session.ID()}
		l.Scheduler.mu.Unlock()
		l.mu.Lock()
		l.touched = nil
		l.mu.Unlock()
		l.leave("orders")
		time.Sleep(time.Second)
		l.mu.Lock()
		defer l.mu.Unlock()
		require.NotEmpty(t, l.touched)
		require.NotContains(t, strings.Join(l.touched, " "), "/other/")
	})
}

// A late join is taken back until the registry takes that: others would give it items as long as the session lasts.
func TestALateJoinIsTakenBackUntilThatIsTaken(t *testing.T) {
	t.Parallel()
	withLeaver(t, func(t *testing.T, l *leaver) {
		l.leave("orders")
		time.Sleep(time.Second)
		l.mu.Lock()
		l.refused = 4
		l.mu.Unlock()
		l.lateJoin("orders")
	})
}

// Jobs that were left are watched over until another session begins, also under one that is lost here and taken up again.
func TestHowLongJobsThatWereLeftAreWatchedOver(t *testing.T) {
	t.Parallel()
	withLeaver(t, func(t *testing.T, l *leaver) {
		const jobs = 30
		for n := range jobs {
			l.leave(fmt.Sprint("job-", n))
		}
		time.Sleep(time.Second)
		first := l.watched()
		require.Len(t, first, jobs)
		l.lateJoin("job-3")

		before, err := l.reg.Session(t.Context())
		require.NoError(t, err)
		l.server.Stop()
		<-before.Done()
		l.server.Start()
		again, err := l.reg.Session(t.Context())
		require.NoError(t, err)
		require.Equal(t, before.ID(), again.ID(), "it was taken up again")
		time.Sleep(time.Second)
		require.Len(t, l.watched(), jobs)
		l.lateJoin("job-3")

		l.reg.Expire()
		<-again.Done()
		l.leave("job-4")
		time.Sleep(time.Second)
		require.Len(t, l.watched(), 1, "of the present session")
		for _, job := range first {
			require.ErrorIs(t, job.view.Err(), registry.ErrClosed)
		}
		l.lateJoin("job-4")
	})
}

// A view of a job that was left that is about to be opened when another session begins is not kept.
func TestAJobThatIsLetGoOfBeforeItIsWatched(t *testing.T) {
	t.Parallel()
	withLeaver(t, func(t *testing.T, l *leaver) {
		l.leave("orders")
		watched := l.watched()["orders"]
		require.NotNil(t, watched)
		require.Nil(t, watched.view)
		l.Scheduler.mu.Lock()
		l.forgetLeft()
		l.Scheduler.mu.Unlock()
		time.Sleep(time.Second)
		require.Nil(t, watched.view)
		require.Empty(t, l.watched())
	})
}

// A job that was left long ago costs no view. A join that is carried out then is taken back all the same, and when the job
// was removed nobody looks at it any more.
func TestAJobThatWasLeftLongAgo(t *testing.T) {
	t.Parallel()
	withLeaver(t, func(t *testing.T, l *leaver) {
		l.leave("orders")
		l.leave("bills")
		time.Sleep(time.Second)
		views := []*registry.View{l.watched()["orders"].view, l.watched()["bills"].view}
		time.Sleep(leftFollowed - time.Minute)
		l.leave("bills") // it counts anew
		time.Sleep(leftFollowed + leftLooked)
		for _, view := range views {
			require.ErrorIs(t, view.Err(), registry.ErrClosed)
		}
		l.joinLate("orders")
		require.Eventually(t, func() bool { return !l.joined("orders") }, 2*leftLooked, time.Minute)

		l.leave("orders")
		time.Sleep(time.Second)
		view := l.watched()["orders"].view
		require.NoError(t, view.Err(), "it is followed again")
		l.lateJoin("orders")

		for _, name := range []string{"orders", "bills"} {
			_, err := l.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.DeleteTree(jobtree.For(name).Root())}})
			require.NoError(t, err)
		}
		time.Sleep(leftFollowed + 3*leftLooked)
		require.Empty(t, l.watched())
		require.ErrorIs(t, view.Err(), registry.ErrClosed)
		before := l.reg.Stats()
		time.Sleep(time.Hour)
		require.Equal(t, before.ReadRequests, l.reg.Stats().ReadRequests)
		l.leave("orders")
		time.Sleep(time.Second)
		require.NoError(t, l.watched()["orders"].view.Err())
		l.lateJoin("orders")
	})
}

// A runner that is taken off the list before it has begun is asked nothing by who found it there before: its answer would
// be work that a Run that ends does not wait for.
func TestARunnerOffTheListIsAskedNothing(t *testing.T) {
	for name, takeOff := range map[string]func(t *testing.T, s *Scheduler, j *Job){
		"it could not start": func(t *testing.T, s *Scheduler, j *Job) { require.True(t, s.forgetUnopened(j.r)) },
		"it left before Run": func(t *testing.T, _ *Scheduler, j *Job) { require.NoError(t, j.Leave(t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			reg := memory.NewServer().Open("test")
			s, err := New(reg, WithInstanceID(myself))
			require.NoError(t, err)
			cfg := job.Config{Name: "orders", Cron: "@every 1h", ShardingTotalCount: 1}
			j, err := s.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
			require.NoError(t, err)
			takeOff(t, s, j)
			require.False(t, j.r.box.Post(func() {}))
			require.NoError(t, reg.Close(context.Background()))
		})
	}
}
