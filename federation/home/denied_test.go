package home_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/registry"
)

// A dry run also tells that the job cannot be taken away from where it is.
func TestAFormerHomeThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{true, false} {
		w := newWorld(t)
		w.store("a")
		before := w.nodes("a")
		d := w.directory(func(name string, txn registry.Txn, do func() error) error {
			if name == "a" {
				return registry.ErrDenied
			}
			return do()
		})
		_, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{DryRun: dry})
		require.ErrorIs(t, err, registry.ErrDenied)
		if dry {
			require.ErrorIs(t, err, home.ErrRefused)
			require.ErrorContains(t, err, "a cannot be written")
		}
		require.Equal(t, before, w.nodes("a"))
		require.Empty(t, w.nodes("b"))
	}
}
