package home_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// The mover's machine sleeps before one of the writes of a copy, and the clock that nobody sets stands still. What came
// meanwhile is noted.
func TestTheMoversMachineSleeps(t *testing.T) {
	t.Parallel()
	for _, beforeTheLast := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.store("a")
			for n := range 100 { // too many for one transaction
				_, err := w.handles["a"].Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.Offset(n), "page 7")}})
				require.NoError(t, err)
			}
			start := time.Now()
			var slept time.Duration
			d := w.directory(func(name string, txn registry.Txn, do func() error) error {
				last := slices.ContainsFunc(txn.Then, func(x registry.Write) bool { return x.Path == orders.Tokens() })
				if name == "b" && len(txn.Then) > 1 && last == beforeTheLast && slept == 0 && !tries(txn) {
					slept = 5 * time.Minute
					time.Sleep(slept)
				}
				return do()
			})
			d.SetClock(func() (mono, wall time.Duration) {
				wall = time.Since(start)
				return wall - slept, wall
			})
			moved, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{})
			require.NoError(t, err)
			require.True(t, moved.Done)
			require.Equal(t, 5*time.Minute, slept)
			for item := range 2 {
				missed, err := jobtree.DecodeMisfire(registry.Node{Value: w.nodes("b")[orders.ItemMisfire(item)]})
				require.NoError(t, err)
				for fire := start.UTC().Truncate(10 * time.Second); fire.Before(time.Now().Add(40 * time.Second)); fire = fire.Add(10 * time.Second) {
					require.True(t, slices.ContainsFunc(missed.Fires, fire.Equal), "%s is not in %v", fire, missed.Fires)
				}
			}
		})
	}
}

// The clock on the wall of the mover's machine is set forward by a year while the job is copied. No fires of a year are noted.
func TestTheMoversClockIsSetWhileItCopies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		start := time.Now()
		var ahead time.Duration
		d := w.directory(func(name string, txn registry.Txn, do func() error) error {
			if name == "b" && slices.ContainsFunc(txn.Then, func(x registry.Write) bool { return x.Path == orders.Tokens() }) && !tries(txn) {
				ahead = 365 * 24 * time.Hour
			}
			return do()
		})
		d.SetClock(func() (mono, wall time.Duration) { return time.Since(start), time.Since(start) + ahead })
		moved, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Done)
		require.NotZero(t, ahead)
		missed, err := jobtree.DecodeMisfire(registry.Node{Value: w.nodes("b")[orders.ItemMisfire(1)]})
		require.NoError(t, err)
		require.Less(t, missed.Newest().Sub(start), 2*time.Minute)
	})
}

// A mover that does not know the job's time zone could note no fires of the time in which the job stands. It does not stop the
// job, or close it if somebody sets the zone after the stop. A job that was closed already is to run again, and that is noted.
func TestAMoverThatDoesNotKnowTheTimeZone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		elsewhere := declared
		elsewhere.TimeZone = "America/Newly_Founded"
		text, err := jobtree.EncodeConfig(elsewhere)
		require.NoError(t, err)
		elsewhere.Disabled = true
		stoppedText, err := jobtree.EncodeConfig(elsewhere)
		require.NoError(t, err)

		w := newWorld(t)
		w.store("a")
		w.put("a", text)
		before := w.nodes("a")
		for _, dry := range []bool{true, false} {
			_, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{DryRun: dry})
			require.ErrorIs(t, err, home.ErrRefused)
			require.ErrorContains(t, err, "when it fires cannot be told here")
		}
		require.Equal(t, before, w.nodes("a"))

		w.put("a", stoppedText) // of which nothing fires
		w.move("b")

		w = newWorld(t)
		w.store("a")
		stopped := false
		_, err = w.directory(func(name string, txn registry.Txn, do func() error) error {
			err := do()
			if name == "a" && !stopped && !tries(txn) {
				stopped = true
				w.put("a", stoppedText)
			}
			return err
		}).Move(t.Context(), "orders", "b", home.MoveOptions{})
		require.ErrorContains(t, err, "it is stopped in a, and not closed: call it again to go on, or enable the job to call it off")
		require.ErrorContains(t, err, "when it fires cannot be told here")

		w = newWorld(t)
		w.store("a")
		w.diesBefore("b")
		closed, is := jobtree.DecodeElsewhere(registry.Node{Value: w.nodes("a")[orders.Config()]})
		require.True(t, is)
		closed.Config = text
		w.put("a", jobtree.EncodeElsewhere(closed))
		moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Done)
		require.Len(t, moved.Notes, 1)
		require.Contains(t, moved.Notes[0], "when it fires cannot be told here")
	})
}

// timeless is a registry that tells no time, at once or in its own time.
type timeless struct {
	*memory.Registry
	silent bool
}

func (r timeless) ServerTime(ctx context.Context) (time.Time, error) {
	if r.silent {
		<-ctx.Done()
		return time.Time{}, registry.ErrUnavailable
	}
	return time.Time{}, registry.ErrUnsupported
}

// Where the registry tells no time, the mover's own clock counts, and that is said once.
func TestARegistryThatTellsNoTime(t *testing.T) {
	t.Parallel()
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.store("a")
			began := time.Now().UTC()
			d, err := home.New("dir", names, func(_ context.Context, name string) (home.Store, error) {
				return timeless{w.handles[name], silent}, nil
			})
			require.NoError(t, err)
			moved, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{})
			require.NoError(t, err)
			require.True(t, moved.Done)
			require.Len(t, moved.Notes, 1)
			require.Contains(t, moved.Notes[0], "a did not tell the time,")
			w.livesOnlyIn("b")
			missed, err := jobtree.DecodeMisfire(registry.Node{Value: w.nodes("b")[orders.ItemMisfire(1)]})
			require.NoError(t, err)
			for fire := began.Truncate(10 * time.Second); fire.Before(time.Now().Add(40 * time.Second)); fire = fire.Add(10 * time.Second) {
				require.True(t, slices.ContainsFunc(missed.Fires, fire.Equal), "%s is not in %v", fire, missed.Fires)
			}
		})
	}
}
