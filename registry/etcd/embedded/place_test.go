package embedded

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// taken returns an option by which the nth address that is found is one that somebody else has taken since, and how many
// were found.
func taken(t *testing.T, nth int64) (option Option, found *atomic.Int64) {
	t.Helper()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	found = new(atomic.Int64)
	return func(o *options) error {
		o.free = func() (string, error) {
			if found.Add(1) == nth {
				return other.Addr().String(), nil
			}
			return freeAddress()
		}
		return nil
	}, found
}

// A port that somebody else takes between our finding it free and listening on it is replaced by another one: a peer's
// port also where the clients' is given, and in a folder that is to stay.
func TestAPortThatIsTakenMeanwhile(t *testing.T) {
	given, err := freeAddress()
	require.NoError(t, err)
	for name, test := range map[string]struct {
		nth  int64
		more []Option
	}{
		"the clients' port":                          {1, nil},
		"the peer's port":                            {2, nil},
		"the peer's port, and the clients' is given": {1, []Option{WithAddress(given)}},
		"the peer's port, in a folder that stays":    {2, []Option{WithDir(t.TempDir())}},
		"both": {1, []Option{WithAddress(given), WithDir(t.TempDir())}},
	} {
		t.Run(name, func(t *testing.T) {
			busy, found := taken(t, test.nth)
			s, err := Start(t.Context(), append(test.more, WithFastTest(), busy)...)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.Greater(t, found.Load(), test.nth)
			require.DirExists(t, s.Dir())
		})
	}
	for _, nth := range []int64{3, 6} { // ports of the second and third member
		busy, _ := taken(t, nth)
		c, err := StartCluster(t.Context(), 3, WithFastTest(), busy, WithDir(t.TempDir()))
		require.NoError(t, err, nth)
		_, err = c.Leader(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
}

// The system may offer a port again that was chosen for another member, or for other traffic, a moment ago.
func TestAPortThatIsOfferedTwice(t *testing.T) {
	var offered []string
	o, err := newOptions([]Option{func(o *options) error {
		o.free = func() (string, error) {
			if n := len(offered); n > 0 && n%4 != 0 { // each three times more
				offered = append(offered, offered[n/4*4])
				return offered[n], nil
			}
			address, err := freeAddress()
			offered = append(offered, address)
			return address, err
		}
		return nil
	}})
	require.NoError(t, err)
	places, err := findPlaces(o, t.TempDir(), 3)
	require.NoError(t, err)
	ports := map[string]bool{}
	for _, at := range places {
		ports[at.client.Port()], ports[at.peer.Port()] = true, true
	}
	require.Len(t, ports, 6)
}

// The clients' port that was asked for is not replaced.
func TestAGivenPortThatIsTaken(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	_, found := taken(t, 0)
	_, err = Start(t.Context(), WithFastTest(), WithAddress(other.Addr().String()), func(o *options) error {
		o.free = func() (string, error) { found.Add(1); return freeAddress() }
		return nil
	})
	require.ErrorContains(t, err, "address already in use")
	require.ErrorContains(t, err, other.Addr().String())
	require.Equal(t, int64(1), found.Load(), "there was one try")
}

// Of two that start at once in the same new folder and at the same address, one fails, and leaves the other's data alone.
func TestTwoStartInTheSamePlace(t *testing.T) {
	for range 3 {
		dir := t.TempDir()
		address, err := freeAddress()
		require.NoError(t, err)
		type started struct {
			s   *Server
			err error
		}
		tries := make(chan started, 2)
		for range cap(tries) {
			go func() {
				s, err := Start(t.Context(), WithFastTest(), WithAddress(address), WithDir(dir))
				tries <- started{s, err}
			}()
		}
		var running []*Server
		for range cap(tries) {
			if try := <-tries; try.err == nil {
				running = append(running, try.s)
			} else {
				require.True(t, errors.Is(try.err, ErrInUse) || errors.Is(try.err, syscall.EADDRINUSE), try.err)
			}
		}
		require.Len(t, running, 1)
		require.FileExists(t, filepath.Join(running[0].Dir(), "member", "snap", "db"))
		require.NoError(t, running[0].Restart(t.Context()))
		require.NoError(t, running[0].Close())
	}
}

// A start that fails leaves nothing behind, and nothing that was there before is taken for its own.
func TestAFailedStartRemovesOnlyWhatItMade(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	for _, found := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "made")
		if found {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "member1", "member"), 0o700))
		}
		_, err := Start(t.Context(), WithFastTest(), WithAddress(other.Addr().String()), WithDir(dir))
		require.ErrorContains(t, err, "address already in use")
		_, err = os.Stat(filepath.Join(dir, "member1"))
		require.Equal(t, found, err == nil)
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Start(t.Context(), WithFastTest(), WithDir(file))
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.FileExists(t, file)
}

// Data that were restored into the folder itself, where no server looks for them, are not passed over: an empty store beside them
// would have all jobs made anew. Moved to where they belong, they are used.
func TestDataInTheWrongPlace(t *testing.T) {
	dir := t.TempDir()
	s, err := Start(t.Context(), WithFastTest(), WithDir(dir))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	right, wrong := filepath.Join(dir, "member1", "member"), filepath.Join(dir, "member")
	require.NoError(t, os.Rename(right, wrong))
	for _, left := range []bool{true, false} { // an empty folder is no data
		_, err = Start(t.Context(), WithFastTest(), WithDir(dir))
		require.ErrorIs(t, err, ErrMisplaced)
		require.ErrorContains(t, err, wrong)
		require.ErrorContains(t, err, right)
		_, err = StartCluster(t.Context(), 3, WithFastTest(), WithDir(dir))
		require.ErrorIs(t, err, ErrMisplaced)
		require.NoDirExists(t, right)
		if left {
			require.NoError(t, os.Remove(filepath.Join(dir, "member1")))
		}
	}
	require.NoDirExists(t, filepath.Join(dir, "member1"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "member1"), 0o700))
	require.NoError(t, os.Rename(wrong, right))
	s, err = Start(t.Context(), WithFastTest(), WithDir(dir))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, os.Mkdir(wrong, 0o700)) // beside data of its own
	s, err = Start(t.Context(), WithFastTest(), WithDir(dir))
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// Where clients need no certificate, only this machine can connect.
func TestOnlyTheLoopbackIsForEverybody(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:2379", "127.8.0.1:0", "[::1]:2379", "localhost:2379"} {
		_, err := newOptions([]Option{WithAddress(address)})
		require.NoError(t, err, address)
	}
	_, err := newOptions([]Option{WithAddress("0.0.0.0:2379"), WithTLS("cert", "key", "")})
	require.ErrorIs(t, err, ErrInvalidOption)
	_, err = newOptions([]Option{WithAddress("0.0.0.0:2379"), WithTLS("cert", "key", "ca")})
	require.NoError(t, err)
}
