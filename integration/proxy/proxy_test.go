package proxy_test

import (
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo starts a server that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			wg.Go(func() { _, _ = io.Copy(conn, conn); _ = conn.Close() })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); wg.Wait() })
	return listener.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func say(t *testing.T, conn net.Conn, word string) {
	t.Helper()
	_, err := io.WriteString(conn, word)
	require.NoError(t, err)
}

func hear(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	text := make([]byte, len(want))
	_, err := io.ReadFull(conn, text)
	require.NoError(t, err)
	require.Equal(t, want, string(text))
}

func TestCutSwallowsUntilItHeals(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	conn := dial(t, p.Address())
	say(t, conn, "one")
	hear(t, conn, "one")

	p.Cut()
	say(t, conn, "two")
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, conn.SetReadDeadline(time.Time{}))

	p.Heal()
	hear(t, conn, "two")
}

func TestBreakClosesWhatIsOpen(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	conn := dial(t, p.Address())
	say(t, conn, "one")
	hear(t, conn, "one")

	p.Break()
	_, err := conn.Read(make([]byte, 1))
	require.Error(t, err)
	again := dial(t, p.Address())
	say(t, again, "two")
	hear(t, again, "two")
}
