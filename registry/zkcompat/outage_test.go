package zkcompat_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// An answer shows a transaction as a whole or not at all, so a view that moves on only when nothing told
// waits to be read never shows half of one, whatever the pace of changes is below its patience.
func TestViewsShowWholeTransactions(t *testing.T) {
	t.Parallel()
	writer, reader := open(t), open(t)
	put(t, writer, registry.Put("/x", "0"), registry.Put("/deep/y", "0"))
	view, err := reader.View(t.Context(), registry.Root)
	require.NoError(t, err)
	var torn []string
	unsubscribe := view.Subscribe(func(step registry.Step) {
		if x, y := step.Snapshot.Get("/x").Value, step.Snapshot.Get("/deep/y").Value; x != y {
			torn = append(torn, x+" and "+y)
		}
	})
	const rounds = 200
	var last registry.Revision
	for i := range rounds {
		value := fmt.Sprint(i + 1)
		last = put(t, writer, registry.Put("/x", value), registry.Put("/deep/y", value))
		if i%4 == 0 { // so that the view can settle
			require.NoError(t, view.WaitRevision(t.Context(), last))
		}
	}
	require.NoError(t, view.WaitRevision(t.Context(), last))
	unsubscribe()
	require.Empty(t, torn)
}

// A view that gets no moment of rest still moves on.
func TestViewsMoveOnUnderConstantChange(t *testing.T) {
	t.Parallel()
	writer, reader := open(t), open(t)
	view, err := reader.View(t.Context(), registry.Root)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	for i := range 8 {
		writing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, _ = writer.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put(fmt.Sprintf("/n/%d", i), fmt.Sprint(n))}})
			}
		})
	}
	for range 5 {
		revision := put(t, writer, registry.Put("/mark", ""))
		require.NoError(t, view.WaitRevision(t.Context(), revision))
		late, err := reader.View(t.Context(), "/n")
		require.NoError(t, err, "a view that begins meanwhile")
		require.NotZero(t, late.Snapshot().Len())
		late.Close()
	}
	stop()
	writing.Wait()
	revision := put(t, writer, registry.Put("/mark", "last"))
	require.NoError(t, view.WaitRevision(t.Context(), revision))
	nodes, _, err := writer.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Len(t, nodes, view.Snapshot().Len())
	for _, n := range nodes {
		require.Equal(t, n, view.Snapshot().Get(n.Path))
	}
}

// A frozen server keeps connections open and answers nothing: only the missing proof tells.
func TestAFrozenServerLosesTheSessionInTime(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	r, err := zkcompat.Open(t.Context(), configOf(server, "frozen"))
	require.NoError(t, err)
	defer r.Close(context.Background())
	view, err := r.View(t.Context(), registry.Root)
	require.NoError(t, err)
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	put(t, r, registry.PutOwned("/owned", "", session))
	require.NoError(t, server.Freeze())
	<-session.Done()
	require.ErrorIs(t, session.Err(), registry.ErrSessionLost)
	require.NoError(t, server.Thaw())

	next, err := r.Session(t.Context())
	require.NoError(t, err)
	require.NotSame(t, session, next)
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/late", "", session)}})
	require.ErrorIs(t, err, registry.ErrSessionLost)
	put(t, r, registry.PutOwned("/next", "", next))
	_, err = view.WaitFor(t.Context(), func(s registry.Snapshot) bool {
		return s.Get("/next").Exists() && s.Get("/owned").Exists() == (next.ID() == session.ID())
	})
	require.NoError(t, err)
}

// warnings is a log handler that passes the first warning on.
type warnings struct {
	slog.Handler
	first chan slog.Record
}

func (w warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (w warnings) WithAttrs([]slog.Attr) slog.Handler               { return w }

func (w warnings) Handle(_ context.Context, r slog.Record) error {
	select {
	case w.first <- r:
	default:
	}
	return nil
}

// A session that cannot be kept is said to be lost, and calls say what they wait for.
func TestASessionThatCannotBeKeptIsLost(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	config, log := configOf(server, "kept"), warnings{Handler: slog.DiscardHandler, first: make(chan slog.Record, 1)}
	config.Logger = slog.New(log)
	r, err := zkcompat.Open(t.Context(), config)
	require.NoError(t, err)
	defer r.Close(context.Background())
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	require.NoError(t, server.Kill())
	told := <-log.first
	require.Equal(t, "the registry does not answer", told.Message)
	told.Attrs(func(a slog.Attr) bool {
		require.NotEmpty(t, a.Value.String())
		if a.Key == "servers" {
			require.Equal(t, server.Address(), a.Value.String())
		}
		return true
	})
	<-session.Done()
	require.ErrorContains(t, session.Err(), "no keep-alive was confirmed")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = r.Get(ctx, "/a")
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, server.Address(), "the server that does not answer is named")
	_, err = r.Session(ctx)
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, server.Address())
	require.NoError(t, server.Run(t.Context()))
	next, err := r.Session(t.Context())
	require.NoError(t, err)
	put(t, r, registry.PutOwned("/owned", "", next))
}

// The server to which a handle is connected dies; the session goes on with another one.
func TestAnEnsembleKeepsTheSessionWhenAServerDies(t *testing.T) {
	t.Parallel()
	servers := zookeeper.StartEnsemble(t, 3)
	config := configOf(servers[0], "ensemble")
	config.SessionTimeout = time.Minute // three elections take long on a busy machine
	config.Servers = nil
	for _, s := range servers {
		config.Servers = append(config.Servers, s.Address())
	}
	r, err := zkcompat.Open(t.Context(), config)
	require.NoError(t, err)
	defer r.Close(context.Background())
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	require.Equal(t, config.SessionTimeout, session.TTL())
	created := put(t, r, registry.PutOwned("/owned", "", session))
	view, err := r.View(t.Context(), registry.Root)
	require.NoError(t, err)
	for i, s := range servers { // each dies once, so the handle's does
		require.NoError(t, s.Kill())
		revision := put(t, r, registry.Put("/round", fmt.Sprint(i)))
		require.NoError(t, view.WaitRevision(t.Context(), revision))
		require.Equal(t, created, view.Snapshot().Get("/owned").Created)
		require.NoError(t, s.Run(t.Context()))
	}
	now, err := r.Session(t.Context())
	require.NoError(t, err)
	require.Equal(t, session.ID(), now.ID())
}

// A store that was set back refuses whoever knew its later transactions, and does not say so. Nobody would guess what to do.
func TestAStoreThatWasSetBackIsNamed(t *testing.T) {
	t.Parallel()
	before, after := sharedServer(t), zookeeper.Start(t)
	var now atomic.Pointer[zookeeper.Server]
	now.Store(before)
	d := dials{wrap: func(_ int, conn net.Conn) net.Conn { return conn }}
	r := open(t, func(c *zkcompat.Config) {
		d.on(c)
		dial := c.Dial
		c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dial(ctx, network, now.Load().Address())
		}
	})
	for i := range 200 { // more than the other one has done by itself
		put(t, r, registry.Put("/n", fmt.Sprint(i)))
	}
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	now.Store(after)
	defer now.Store(before) // for the farewell
	d.cut()
	<-session.Done()
	for begun := time.Now(); time.Since(begun) < time.Minute; { // an election says no more at first
		ctx, cancel := context.WithTimeout(t.Context(), testTTL/4)
		_, err = r.Get(ctx, "/n")
		cancel()
		require.ErrorIs(t, err, registry.ErrUnavailable)
		if strings.Contains(err.Error(), "restored") {
			break
		}
	}
	require.ErrorContains(t, err, "no answer to the greeting")
	require.ErrorContains(t, err, "restored from a backup")
	require.ErrorContains(t, err, "all processes have to be restarted")
}
