package zookeeper_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/zookeeper"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what takes milliseconds on a machine that is not busy.
const patience = 2 * time.Minute

// connect opens a session that no busy machine ends.
func connect(t *testing.T, addresses ...string) *zk.Conn {
	t.Helper()
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	conn, events, err := zk.Connect(addresses, 30*time.Second, zk.WithLogger(quiet))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	for late := time.After(patience); ; {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn
			}
		case <-late:
			t.Fatal("no session")
		}
	}
}

// eventually repeats a call that fails while the client has no connection.
func eventually(t *testing.T, call func() error) {
	t.Helper()
	var err error
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(20 * time.Millisecond) {
		if err = call(); err == nil {
			return
		}
	}
	require.NoError(t, err)
}

func TestAServerKeepsItsDataAndPort(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	conn := connect(t, server.Addresses()...)
	_, err := conn.Create("/a", []byte("1"), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	require.NoError(t, server.Kill())
	require.NoError(t, server.Kill(), "it is dead already")
	require.Error(t, server.Freeze())
	require.NoError(t, server.Run(t.Context()))
	require.Error(t, server.Run(t.Context()), "it runs already")
	// The client from before may have greeted a server that listened and did not serve yet. Such a server drops the
	// greeting and leaves the connection open, and this client then waits for ten times two thirds of its session.
	value, _, err := connect(t, server.Addresses()...).Get("/a")
	require.NoError(t, err)
	require.Equal(t, "1", string(value))
}

func TestAFrozenServerAnswersWhenItThaws(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	conn := connect(t, server.Addresses()...)
	require.NoError(t, server.Freeze())
	answer := make(chan error, 1) // of the one call
	go func() { _, _, err := conn.Exists("/"); answer <- err }()
	select {
	case err := <-answer:
		t.Fatalf("a frozen server answered: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	require.NoError(t, server.Thaw())
	if err := <-answer; err != nil {
		require.ErrorIs(t, err, zk.ErrConnectionClosed, "the client gave up before it thawed")
	}
	eventually(t, func() error { _, _, err := conn.Exists("/"); return err })
}

func TestWhatASessionOwnsGoesWithIt(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	conn := connect(t, server.Addresses()...)
	_, err := conn.Create("/owned", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	other := connect(t, server.Addresses()...)
	there, _, gone, err := other.ExistsW("/owned")
	require.NoError(t, err)
	require.True(t, there)
	conn.Close()
	select {
	case <-gone:
	case <-time.After(patience):
		t.Fatal("the node of a session that ended is still there")
	}
}

func TestAnEnsembleOutlivesOneServer(t *testing.T) {
	t.Parallel()
	servers := zookeeper.StartEnsemble(t, 3)
	addresses := []string{servers[0].Address(), servers[1].Address(), servers[2].Address()}
	conn := connect(t, addresses...)
	require.NoError(t, servers[2].Kill())
	eventually(t, func() error {
		_, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
		if errors.Is(err, zk.ErrNodeExists) { // by a try whose answer was lost
			return nil
		}
		return err
	})
}
