package zkcompat_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// A session that holds as much as is safe is told so, and takes more as soon as something has gone, whoever took it away.
func TestASessionHoldsNoMoreThanIsSafe(t *testing.T) {
	t.Parallel()
	r, other := open(t, func(c *zkcompat.Config) { c.SessionTimeout = steadyTTL }), open(t)
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	put := func(path string) error {
		_, err := r.Commit(t.Context(), registry.Txn{
			Then: []registry.Write{registry.PutOwned(path, "", session)}, Repeat: registry.RepeatOwned,
		})
		return err
	}
	path := func(i int) string { return fmt.Sprintf("/orders/%03d%s", i, strings.Repeat("p", 9<<10)) }
	n := 0
	for ; err == nil; n++ {
		require.Less(t, n, 1<<20/(9<<10))
		err = put(path(n))
	}
	require.ErrorIs(t, err, registry.ErrNoSpace)
	require.ErrorContains(t, err, "jute.maxbuffer")
	require.NoError(t, put("/orders/small"))
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(path(0))}, Repeat: registry.RepeatHarmless})
	require.NoError(t, err)
	require.NoError(t, put(path(0)), "this process took one away")
	require.ErrorIs(t, put(path(n)), registry.ErrNoSpace)

	_, err = other.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(path(1))}, Repeat: registry.RepeatHarmless})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		err := put(path(1))
		require.True(t, err == nil || errors.Is(err, registry.ErrNoSpace))
		return err == nil
	}, time.Minute, 100*time.Millisecond, "another one did")
	require.NoError(t, r.Latch(t.Context(), "/orders/latch", func(context.Context) error { return nil }))
}
