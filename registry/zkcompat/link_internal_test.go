package zkcompat

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry/internal/remote"
)

// linkApart returns a link that has had no connection for so long.
func linkApart(servers int, apart time.Duration) *link {
	return &link{
		config: Config{Servers: make([]string, servers), SessionTimeout: 10 * time.Second}, ttl: 10 * time.Second,
		clock: func() time.Duration { return time.Hour }, apart: time.Hour - apart, failed: 1000,
	}
}

// A server that lets nobody in, as it has no quorum, is left alone for a while, once haste saves no session any more.
func TestWhoIsRefusedForLongAsksMoreSeldom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		servers     int
		apart       time.Duration
		least, most time.Duration
	}{
		"at first":                   {1, 9 * time.Second, 0, remote.MaxBackoff},
		"without a session":          {1, 11 * time.Second, patientPause * 3 / 4, patientPause},
		"three servers":              {3, 11 * time.Second, patientPause / 4, patientPause / 3},
		"more than it makes sense":   {100, time.Hour, remote.MaxBackoff * 3 / 4, remote.MaxBackoff},
		"three servers, and at once": {3, 0, 0, remote.MaxBackoff},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 100 {
				pause := linkApart(c.servers, c.apart).pause()
				require.GreaterOrEqual(t, pause, c.least)
				require.LessOrEqual(t, pause, c.most)
			}
		})
	}
}

// What is said of a server that does not answer names what is likely. A restored backup is that only when no election would
// take so long.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seen     int64
		apart    time.Duration
		restored bool
	}{
		"at Open":     {0, time.Hour, false},
		"an election": {1, 20 * time.Second, false},
		"for long":    {1, 31 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := linkApart(1, c.apart)
			l.see(c.seen)
			err := l.unanswered("zk1:2181")
			require.ErrorContains(t, err, "zk1:2181: no answer to the greeting")
			require.ErrorContains(t, err, "maxClientCnxns")
			if c.restored {
				require.ErrorContains(t, err, "restored from a backup")
			} else {
				require.NotContains(t, err.Error(), "backup")
			}
		})
	}
}
