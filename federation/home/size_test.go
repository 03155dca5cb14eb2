package home_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// large stores a job with a parameter and so many checkpoints of 16 KiB, and returns its configuration.
func (w *world) large(name, parameter string, checkpoints int) string {
	w.t.Helper()
	cfg := declared
	cfg.JobParameter = parameter
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(w.t, err)
	writes := []registry.Write{registry.Put(orders.Config(), text)}
	for n := range checkpoints {
		writes = append(writes, registry.Put(orders.Offset(n), strings.Repeat("o", 16<<10)))
	}
	for _, write := range writes {
		_, err = w.handles[name].Commit(w.t.Context(), registry.Txn{Then: []registry.Write{write}})
		require.NoError(w.t, err)
	}
	return text
}

// takes has a registry take so many bytes in a request.
func (w *world) takes(name string, bytes int) {
	w.t.Helper()
	require.NoError(w.t, w.handles[name].Close(context.Background()))
	w.servers[name] = memory.NewServer(memory.WithMaxBytes(bytes))
	w.handles[name] = w.servers[name].Open("shop")
}

// A job that fits into no single request arrives nevertheless, and its configuration comes last.
func TestAJobThatNeedsSeveralRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			parameter   int // bytes
			checkpoints int
			takes       int // bytes of a request of the new home
		}{
			"by its configuration":          {1_250_000, 20, memory.DefaultMaxBytes},
			"by its checkpoints":            {1_000, 50, 200_000},
			"more than are written at once": {1_000, 100, 200_000},
		} {
			w := newWorld(t)
			w.takes("b", test.takes)
			text := w.large("a", strings.Repeat("x", test.parameter), test.checkpoints)
			moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
			require.NoError(t, err, name)
			require.True(t, moved.Done)
			require.Equal(t, text, w.nodes("b")[orders.Config()], name)
			nodes, revision, err := w.handles["b"].List(t.Context(), orders.Root())
			require.NoError(t, err)
			require.Equal(t, revision, registry.NewSnapshot(revision, nodes).Get(orders.Config()).Revision, name)
			for n := range test.checkpoints {
				require.Len(t, w.nodes("b")[orders.Offset(n)], 16<<10, name)
			}
			require.Len(t, w.nodes("a"), 1, name)
		}
	})
}

// A job that cannot arrive, as the new home does not take its configuration or a checkpoint, or the former home not what closes
// it, is not stopped.
func TestAJobThatIsTooLargeStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			parameter   string
			checkpoints int
			takes       int
			who         string
		}{
			"the configuration":        {strings.Repeat("x", 300_000), 1, 250_000, "b"},
			"a checkpoint":             {"x", 1, 16_000, "b"},
			"the configuration quoted": {strings.Repeat("=", 230_000) + strings.Repeat(`"`, 20_000), 1, memory.DefaultMaxBytes, "a"},
		} {
			w := newWorld(t)
			w.takes("b", test.takes)
			w.large("a", test.parameter, test.checkpoints)
			if name == "a checkpoint" {
				_, err := w.handles["a"].Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.Offset(0), strings.Repeat("o", 300_000))}})
				require.NoError(t, err)
			}
			before := w.nodes("a")
			for _, dry := range []bool{true, false} {
				_, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{DryRun: dry})
				require.ErrorIs(t, err, home.ErrRefused, name)
				require.ErrorIs(t, err, registry.ErrTooLarge, name)
				require.ErrorContains(t, err, test.who+" does not take all of it", name)
			}
			require.Equal(t, before, w.nodes("a"), name)
			require.Empty(t, w.nodes("b"), name)
		}
	})
}

// The configuration grows while the job is stopped, so that the new home does not take it any more, or the former one not what
// closes the job: it is not closed, and the move can be called off.
func TestAJobThatGrowsIsNotClosed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		takes     int
		parameter string
	}{
		"b": {50_000, strings.Repeat("x", 60_000)},
		"a": {30_000, strings.Repeat(`"`, 10_000)}, // which no try shows: it is not long
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.takes(name, test.takes)
			w.store("a")
			stopped := false
			_, err := w.directory(func(name string, txn registry.Txn, do func() error) error {
				err := do()
				if name == "a" && !stopped && !tries(txn) {
					stopped = true
					cfg := declared
					cfg.Disabled, cfg.JobParameter = true, test.parameter
					text, err := jobtree.EncodeConfig(cfg)
					require.NoError(t, err)
					w.put("a", text)
				}
				return err
			}).Move(t.Context(), "orders", "b", home.MoveOptions{})
			require.ErrorIs(t, err, registry.ErrTooLarge, name)
			require.NotErrorIs(t, err, home.ErrRefused, "it was stopped")
			require.ErrorContains(t, err, "it is stopped in a, and not closed: call it again to go on, or enable the job to call it off")
			_, closed := jobtree.DecodeElsewhere(registry.Node{Value: w.nodes("a")[orders.Config()]})
			require.False(t, closed)
		})
	}
}

// An ordinary job moves with few transactions, four of which only try whether it can.
func TestHowManyTransactionsAMoveTakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		tried, made := 0, 0
		moved, err := w.directory(func(_ string, txn registry.Txn, do func() error) error {
			if tries(txn) {
				tried++
			} else {
				made++
			}
			return do()
		}).Move(t.Context(), "orders", "b", home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Done)
		require.Equal(t, []int{4, 8}, []int{tried, made})
	})
}
