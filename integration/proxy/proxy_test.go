package proxy_test

import (
	"io"
	"net"
	"os"
	"strings"
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

// What is sought is seen when it is sent, though a cut holds it back, and though it comes in two parts.
func TestSeesWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	conn := dial(t, p.Address())
	p.Cut()
	seen, other := p.Sees("middle"), p.Sees("nowhere")
	say(t, conn, "one mid")
	say(t, conn, "dle two")
	<-seen
	select {
	case <-other:
		require.Fail(t, "saw what nobody sent")
	default:
	}
	p.Heal()
	hear(t, conn, "one middle two")
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

// silent fails if something comes within a moment.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, conn.SetReadDeadline(time.Time{}))
}

// While the network is cut, a client's hanging up does not reach the server.
func TestHangUpIsHeardByTheClientAlone(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	p := proxy.Start(t, listener.Addr().String())
	client := dial(t, p.Address())
	server, err := listener.Accept()
	require.NoError(t, err)
	defer server.Close()
	say(t, client, "one")
	hear(t, server, "one")
	p.Cut()
	p.HangUp()
	_, err = client.Read(make([]byte, 1))
	require.Error(t, err)
	require.NoError(t, server.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = server.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestAPatientProxyWaitsForItsServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	client := dial(t, proxy.StartPatient(t, address).Address())
	say(t, client, "one")
	listener, err = net.Listen("tcp", address)
	require.NoError(t, err)
	defer listener.Close()
	server, err := listener.Accept()
	require.NoError(t, err)
	defer server.Close()
	hear(t, server, "one")
}

// A server that is cut off in one direction hears, and is not heard; or the reverse.
func TestCutsInOneDirection(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 4)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		word := make([]byte, 3)
		for {
			if _, err := io.ReadFull(conn, word); err != nil {
				return
			}
			heard <- string(word)
			_, _ = conn.Write(word)
		}
	})
	t.Cleanup(func() { _ = listener.Close(); wg.Wait() })
	p := proxy.Start(t, listener.Addr().String())
	conn := dial(t, p.Address())

	p.CutDown()
	say(t, conn, "one")
	require.Equal(t, "one", <-heard)
	silent(t, conn)
	p.Heal()
	hear(t, conn, "one")

	p.CutUp()
	say(t, conn, "two")
	silent(t, conn)
	require.Empty(t, heard)
	p.CutDown() // opens the other direction
	require.Equal(t, "two", <-heard)
	p.Heal()
	hear(t, conn, "two")
}

func TestDelayAndLossKeepTheOrder(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	conn := dial(t, p.Address())
	say(t, conn, "one")
	hear(t, conn, "one")

	const late = 30 * time.Millisecond
	p.Delay(late)
	began := time.Now()
	say(t, conn, "two")
	hear(t, conn, "two")
	require.GreaterOrEqual(t, time.Since(began), 2*late, "there and back")
	p.Delay(0)

	p.Lose(1)
	began = time.Now()
	say(t, conn, "three")
	hear(t, conn, "three")
	require.GreaterOrEqual(t, time.Since(began), 400*time.Millisecond, "sent again in each direction")
}

// However much is lost of a busy connection, it goes on soon when nothing is lost any more.
func TestLossesDoNotAddUp(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	conn := dial(t, p.Address())
	p.Lose(0.9)
	for range 40 {
		say(t, conn, ".")
		time.Sleep(5 * time.Millisecond) // so that each is sent by itself
	}
	p.Lose(0)
	began := time.Now()
	hear(t, conn, strings.Repeat(".", 40))
	require.Less(t, time.Since(began), 10*time.Second, "each of them stands still for a second, alone")
}

func TestClientsThatAreToldApart(t *testing.T) {
	t.Parallel()
	p := proxy.StartNamed(t, echo(t), func(first []byte) string { return string(first[:1]) })
	a, b := dial(t, p.Address()), dial(t, p.Address())
	for _, conn := range []net.Conn{a, b} {
		word := map[net.Conn]string{a: "anna", b: "bert"}[conn]
		say(t, conn, word)
		hear(t, conn, word)
	}
	p.From("a").Cut()
	say(t, a, "more")
	say(t, b, "more")
	hear(t, b, "more")
	silent(t, a)
	p.From("a").Heal()
	hear(t, a, "more")
}
