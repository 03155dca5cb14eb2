package migrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
)

// revision returns the newest revision of a registry.
func (w *world) revision(reg registry.Reader) int64 {
	w.Helper()
	_, revision, err := reg.List(w.Context(), registry.Root)
	require.NoError(w, err)
	return int64(revision)
}

func TestTokensStartAboveAllThatTheSourceGranted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	for range 50 {
		w.has(w.source, "/another/node", "")
	}
	require.Equal(t, migrate.Created, w.one(migrate.Options{Apply: true, Jobs: []string{"orders"}}).Action)
	require.Equal(t, w.revision(w.source), w.base(), "records that are gone may have had any token up to now")
}

// The source came from elsewhere itself.
func TestABaseOfTheSourceCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil), "/orders/leader/tokens", jobtree.EncodeTokens(jobtree.Tokens{Base: 1000}))
	w.one(apply)
	require.Equal(t, 1000+w.revision(w.source), w.base())
}

func TestABaseOnlyGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	w.has(w.target, "/orders/config", configOf(t, nil), "/orders/leader/tokens", jobtree.EncodeTokens(jobtree.Tokens{Base: 1000}))
	require.Equal(t, migrate.Unchanged, w.one(apply).Action)
	require.Equal(t, int64(1000), w.base())
}

// The job went on in the source after it was copied, and has newer tokens.
func TestABaseIsRaisedWhenTheSourceWentOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(t, nil))
	w.one(apply)
	first, config := w.base(), w.get("/orders/config")
	w.has(w.source, "/orders/sharding/0/record", `{"state":"idle"}`)
	j := w.one(apply)
	require.Equal(t, migrate.Updated, j.Action)
	require.Equal(t, "leader/tokens", j.Changes[0].Node)
	require.Greater(t, w.base(), first)
	// Begins that were decided upon the old base are refused, because they compare the config.
	require.Greater(t, w.get("/orders/config").Revision, config.Revision)
	require.Equal(t, w.get("/orders/leader/tokens").Revision, w.get("/orders/config").Revision, "in one transaction")
	require.Equal(t, migrate.Unchanged, w.one(apply).Action)
}

func (w *world) get(path string) registry.Node {
	w.Helper()
	n, err := w.target.Get(w.Context(), path)
	require.NoError(w, err)
	return n
}
