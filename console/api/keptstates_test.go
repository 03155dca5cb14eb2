package api

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/registry"
)

func stateAt(revision int) registry.Snapshot {
	return registry.NewSnapshot(registry.Revision(revision), nil)
}

// A state is kept for a minute after its reader's last page, and then nothing holds it, though nobody asks again.
func TestStatesAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k keptStates
		size := func() int {
			synctest.Wait()
			k.mu.Lock()
			defer k.mu.Unlock()
			return len(k.all)
		}
		k.keep("vera", stateAt(1))
		k.keep("vera", stateAt(2))
		time.Sleep(keptFor - time.Second)
		k.keep("vera", stateAt(2)) // one page more
		require.Equal(t, 2, size())
		time.Sleep(2 * time.Second)
		require.Equal(t, 1, size())
		got, kept := k.of("vera", 2)
		require.True(t, kept)
		require.EqualValues(t, 2, got.Revision())
		_, kept = k.of("vera", 1)
		require.False(t, kept)
		_, kept = k.of("olaf", 2)
		require.False(t, kept, "it is another's")
		time.Sleep(keptFor)
		require.Zero(t, size())
	})
}

// Whoever reads many states loses the oldest of their own, and others lose none.
func TestAReaderOfManyStatesTakesNoneOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k keptStates
		is := func(reader string, revision int) bool {
			_, kept := k.of(reader, registry.Revision(revision))
			return kept
		}
		k.keep("vera", stateAt(1))
		k.keep("olaf", stateAt(1))
		for i := range 2 * mostKept {
			time.Sleep(time.Millisecond)
			k.keep("greedy", stateAt(i+1))
			require.True(t, is("greedy", i+1))
		}
		require.True(t, is("vera", 1))
		require.True(t, is("olaf", 1))
		require.Len(t, k.all, mostKept)
		require.False(t, is("greedy", mostKept+2))
		require.True(t, is("greedy", mostKept+3))
		// If everybody has one, the one that was used the longest time ago goes.
		for i := range mostKept {
			time.Sleep(time.Millisecond)
			k.keep(fmt.Sprint(i), stateAt(7))
		}
		require.Len(t, k.all, mostKept)
		require.False(t, is("vera", 1))
		require.True(t, is("0", 7))
		time.Sleep(time.Millisecond)
		k.keep("one more", stateAt(7))
		require.True(t, is("one more", 7))
		require.False(t, is("0", 7))
	})
}

// A token and a person of one name read for themselves.
func TestWhoReads(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, readerOf(access.Identity{Name: "deploy", How: access.ByToken}), readerOf(access.Identity{Name: "deploy", How: access.ByProxy}))
}
