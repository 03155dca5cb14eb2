package migrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
)

// A job was moved, returned, and moved again; then the target was restored from a backup of before that. It says that the job has
// returned, of the first move. The source is drained by the second one, so the job has not, and nothing is changed.
func TestATargetThatWasRestoredKnowsNothingOfALaterMove(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.hasEverything()
		require.True(w, w.goes(migrate.Move).Done)
		require.True(w, w.goes(migrate.Return).Done)
		backup := w.nodes(w.target)
		require.True(w, w.goes(migrate.Move).Done)
		for path := range w.nodes(w.target) {
			_, err := w.target.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Delete(path)}})
			require.NoError(w, err)
		}
		for path, value := range backup {
			w.has(w.target, path, value)
		}
		here, there := w.nodes(w.source), w.nodes(w.target)
		for _, way := range []direction{migrate.Return, migrate.Move} {
			refused := w.goes(way)
			require.False(w, refused.Done)
			require.Contains(w, refused.Reason, "it is drained by another move")
			require.Equal(w, here, w.nodes(w.source))
			require.Equal(w, there, w.nodes(w.target))
		}
		require.True(w, w.alone(withoutTarget).Done, "the way that the refusal names")
		runs, _ := w.sides()
		require.True(w, runs, "it runs in the source")
	})
}
