package zkcompat_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// What tells a process of this test binary that it is the one to be paused, and where it works.
const (
	pausedServer    = "ZKCOMPAT_PAUSED_SERVER"
	pausedNamespace = "ZKCOMPAT_PAUSED_NAMESPACE"
)

// TestPausedProcess is no test but the process that TestAPausedProcessKnowsThatItLostItsSession pauses.
func TestPausedProcess(t *testing.T) {
	address := os.Getenv(pausedServer)
	if address == "" {
		t.Skip("is run by another test")
	}
	r, err := zkcompat.Open(t.Context(), zkcompat.Config{
		Servers: []string{address}, Namespace: os.Getenv(pausedNamespace), SessionTimeout: testTTL, ConnectionTimeout: time.Minute,
	})
	require.NoError(t, err)
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	put(t, r, registry.PutOwned("/owned", "", session))
	fmt.Println("owns") // and is now paused, until the node is gone
	var in [1]byte
	_, err = os.Stdin.Read(in[:])
	require.NoError(t, err)
	fmt.Println(session.State())
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/late", "", session)}})
	require.ErrorIs(t, err, registry.ErrSessionLost)
	next, err := r.Session(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, session.ID(), next.ID())
	put(t, r, registry.PutOwned("/owned", "again", next))
	fmt.Println("owns again")
	require.NoError(t, r.Close(context.Background()))
}

func TestAPausedProcessKnowsThatItLostItsSession(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	config := configOf(server, namespaceOf(t))
	r, err := zkcompat.Open(t.Context(), config)
	require.NoError(t, err)
	defer r.Close(context.Background())
	view, err := r.View(t.Context(), registry.Root)
	require.NoError(t, err)

	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPausedProcess$")
	cmd.Env = append(os.Environ(), pausedServer+"="+server.Address(), pausedNamespace+"="+namespaceOf(t))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := bufio.NewScanner(out)
	expect := func(word string) {
		require.True(t, said.Scan(), word)
		require.Equal(t, word, said.Text())
	}
	expect("owns")
	_, err = view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return s.Get("/owned").Exists() })
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	_, err = view.WaitFor(t.Context(), func(s registry.Snapshot) bool { return !s.Get("/owned").Exists() })
	require.NoError(t, err)
	_, err = in.Write([]byte("\n")) // read as soon as it goes on
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	expect("lost")
	expect("owns again")
	for said.Scan() { // what the test binary says at its end
	}
	require.NoError(t, cmd.Wait())
}
