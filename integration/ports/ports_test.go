package ports_test

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/ports"
)

const asOther = "ELASTICRON_PORTS_OTHER"

func TestMain(m *testing.M) {
	if os.Getenv(asOther) != "" {
		all, err := ports.Claim(100)
		if err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(strings.Join(all, " ") + "\n")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the test lets go
		return
	}
	os.Exit(m.Run())
}

// Ports are free, and each is given out once, in this process and in another one that lives.
func TestClaims(t *testing.T) {
	t.Parallel()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), asOther+"=1")
	hold, err := other.StdinPipe()
	require.NoError(t, err)
	out, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line := make([]byte, 1024)
	n, err := out.Read(line)
	require.NoError(t, err)
	seen := make(map[string]bool)
	theirs := strings.Fields(string(line[:n]))
	require.Len(t, theirs, 100)
	for _, port := range theirs {
		seen[port] = true
	}
	for range 10 {
		mine, err := ports.Claim(40)
		require.NoError(t, err)
		require.Len(t, mine, 40)
		for _, port := range mine {
			require.False(t, seen[port], "port %s is given out twice", port)
			seen[port] = true
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+mine[0])
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
	require.NoError(t, hold.Close())
	require.NoError(t, other.Wait())
}
