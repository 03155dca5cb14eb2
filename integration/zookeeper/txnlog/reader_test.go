package txnlog_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/integration/zookeeper/txnlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what takes milliseconds on a machine that is not busy.
const patience = 2 * time.Minute

// connect opens a session.
func connect(t *testing.T, server *zookeeper.Server) *zk.Conn {
	t.Helper()
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	conn, _, err := zk.Connect(server.Addresses(), 30*time.Second, zk.WithLogger(quiet))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// until reads up to the end of a session.
func until(t *testing.T, log *txnlog.Reader, session int64) []txnlog.Txn {
	t.Helper()
	var all []txnlog.Txn
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(5 * time.Millisecond) {
		txn, err := log.Next()
		for ; err == nil; txn, err = log.Next() {
			if all = append(all, txn); txn.Closed && txn.Session == session {
				return all
			}
		}
		if !errors.Is(err, io.EOF) {
			require.NoError(t, err)
		}
	}
	require.Fail(t, "the log does not have the end of the session")
	return nil
}

func TestTheLogHasEveryTransaction(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	log := txnlog.Open(server.LogFolder())
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	conn, world := connect(t, server), zk.WorldACL(zk.PermAll)
	_, err := conn.Create("/a", []byte("1"), 0, world)
	require.NoError(t, err)
	_, err = conn.Create("/a", nil, 0, world)
	require.ErrorIs(t, err, zk.ErrNodeExists)
	_, err = conn.Multi(
		&zk.CreateRequest{Path: "/a/mine", Acl: world, Flags: zk.FlagEphemeral},
		&zk.CheckVersionRequest{Path: "/a", Version: 0},
		&zk.SetDataRequest{Path: "/a", Data: []byte("2"), Version: 0},
		&zk.CreateRequest{Path: "/b", Acl: world}, &zk.DeleteRequest{Path: "/b", Version: -1})
	require.NoError(t, err)
	_, err = conn.Multi(&zk.DeleteRequest{Path: "/a/mine", Version: 0}, &zk.CheckVersionRequest{Path: "/a", Version: 0})
	require.ErrorIs(t, err, zk.ErrBadVersion)
	_, stat, err := conn.Get("/a")
	require.NoError(t, err)
	session := conn.SessionID()
	conn.Close()

	var ops [][]txnlog.Op
	var opened, closed bool
	zxids := make(map[int64]bool)
	for _, txn := range until(t, log, session) {
		require.Equal(t, session, txn.Session)
		require.False(t, zxids[txn.Zxid])
		require.WithinDuration(t, time.Now(), txn.Time, patience)
		zxids[txn.Zxid] = true
		opened, closed = opened || txn.Opened, txn.Closed
		if len(txn.Ops) > 0 {
			ops = append(ops, txn.Ops)
		}
	}
	require.True(t, opened)
	require.True(t, closed)
	require.True(t, zxids[stat.Czxid])
	require.True(t, zxids[stat.Mzxid])
	require.Equal(t, [][]txnlog.Op{
		{{Kind: txnlog.Create, Path: "/a", Data: []byte("1")}},
		{
			{Kind: txnlog.Create, Path: "/a/mine", Ephemeral: true},
			{Kind: txnlog.Set, Path: "/a", Data: []byte("2")},
			{Kind: txnlog.Create, Path: "/b"},
			{Kind: txnlog.Delete, Path: "/b"},
		},
		{{Kind: txnlog.Delete, Path: "/a/mine"}},
	}, ops)
}

func TestAnEntryIsReadWhenItIsWhole(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	conn := connect(t, server)
	_, err := conn.Create("/a", []byte("1"), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(server.LogFolder(), "log.*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	text = bytes.TrimRight(text, "\x00")

	folder := t.TempDir()
	file := filepath.Join(folder, filepath.Base(files[0]))
	log := txnlog.Open(folder)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	_, err = log.Next()
	require.ErrorIs(t, err, io.EOF, "there is no file yet")
	var ends []int // of entries
	for size := range len(text) + 1 {
		require.NoError(t, os.WriteFile(file, text[:size], 0o600))
		if _, err := log.Next(); err == nil {
			ends = append(ends, size)
		} else {
			require.ErrorIs(t, err, io.EOF)
		}
	}
	require.Len(t, ends, 2, "the session and the node")
	require.Equal(t, len(text), ends[1])
}

func TestTheLogGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	log := txnlog.Open(server.LogFolder())
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	for range 3 {
		conn := connect(t, server)
		_, err := conn.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		session := conn.SessionID()
		conn.Close()
		all := until(t, log, session)
		require.Equal(t, []txnlog.Op{{Kind: txnlog.Delete, Path: "/a"}}, all[len(all)-1].Ops)
		require.NoError(t, server.Kill())
		require.NoError(t, server.Run(t.Context()))
	}
}
