package embedded

import (
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// lent tells whether the system would give a port to somebody who asks for any: that is, whether a socket that shares with
// nobody can be bound to it.
func lent(t *testing.T, port string) bool {
	t.Helper()
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Close(socket)) }()
	err = syscall.Bind(socket, &syscall.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}})
	if err != nil {
		require.ErrorIs(t, err, syscall.EADDRINUSE)
	}
	return err == nil
}

// Nobody else gets the ports of a server that is down and may be started again; they refuse connections until then.
func TestThePortsOfAStoppedServerAreKept(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), WithFastTest())
	require.NoError(t, err)
	s.Stop()
	client, peer := s.place.client.Host, s.place.peer.Host
	for _, address := range []string{client, peer} {
		require.False(t, lent(t, portOf(address)))
		_, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	}
	require.NoError(t, s.Restart(t.Context()))
	require.Equal(t, []string{"http://" + client}, s.Endpoints())
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	for _, port := range s.place.held {
		require.ErrorIs(t, port.(*os.File).Close(), os.ErrClosed)
	}
}

// A start that fails keeps no port, and a port on which somebody listens is not held.
func TestPortsOfAFailedStartAreGivenBack(t *testing.T) {
	t.Parallel()
	var found []string
	o, err := newOptions([]Option{WithFastTest(), func(o *options) error {
		o.free = func() (string, error) {
			address, err := freeAddress()
			if found = append(found, address); len(found) == 2 {
				return "", syscall.EMFILE
			}
			return address, err
		}
		return nil
	}})
	require.NoError(t, err)
	places, err := findPlaces(o, t.TempDir(), 1)
	require.ErrorIs(t, err, syscall.EMFILE)
	require.Len(t, places[0].held, 1)
	require.ErrorIs(t, places[0].held[0].(*os.File).Close(), os.ErrClosed)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	_, err = holdPort(listener.Addr().String())
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}
