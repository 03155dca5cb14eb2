package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The watchdog is fed as long as the server says that it lives; while it stops, whatever it says.
func TestTheWatchdogOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 30 * time.Second
		var still atomic.Bool
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			require.Equal(t, "/live", r.URL.Path)
			if still.Load() {
				http.Error(w, `namespace "shop" stands still`, http.StatusServiceUnavailable)
			}
		})
		var told []string
		var log strings.Builder
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		var telling sync.WaitGroup
		telling.Go(func() {
			tellUntil(ctx, over, limit, handler, func(state string) { told = append(told, state) }, slog.New(slog.NewTextHandler(&log, nil)))
		})
		beats := func() int {
			synctest.Wait()
			defer func() { told = nil }()
			return len(told)
		}
		time.Sleep(limit)
		require.Equal(t, 3, beats())
		require.Empty(t, log.String())
		still.Store(true)
		time.Sleep(2 * limit)
		require.Zero(t, beats(), "systemd ends it")
		require.Contains(t, log.String(), `namespace \"shop\" stands still`)
		still.Store(false)
		time.Sleep(limit)
		require.Equal(t, 3, beats())
		still.Store(true)
		stop()
		time.Sleep(limit)
		require.Equal(t, 4, beats(), "and STOPPING=1")
		close(over)
		telling.Wait()
	})
}

// A systemd that stands still takes nothing more when its queue is full, and is waited for a while.
func TestASystemdThatStandsStill(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere there is no systemd, and a full queue is another error")
	}
	socket := filepath.Join(t.TempDir(), "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer systemd.Close()
	require.NoError(t, notify("", "READY=1"), "there is no systemd")
	full := false
	for range 10_000 { // more than a queue has room for
		if err = notify(socket, "WATCHDOG=1"); err != nil {
			full = true
			break
		}
	}
	require.True(t, full)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	heard := make([]byte, 100)
	n, err := systemd.Read(heard)
	require.NoError(t, err)
	require.Equal(t, "WATCHDOG=1", string(heard[:n]))
	require.NoError(t, notify(socket, "STOPPING=1"), "there is room again")
}
