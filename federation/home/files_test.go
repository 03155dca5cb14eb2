package home_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// filesOf is what a worker with files of an owner does in a registry.
type filesOf struct {
	*world
	name, owner string
}

// files were changed so long ago.
func (f filesOf) files(ago time.Duration) operate.Files {
	return operate.Files{Owner: f.owner, Version: time.Now().Add(-ago).UnixNano(), ByTime: true}
}

func (f filesOf) operator() *operate.Operator {
	f.t.Helper()
	op, err := operate.New(f.handles[f.name], operate.By("worker", "test"))
	require.NoError(f.t, err)
	return op
}

func (f filesOf) take() error {
	f.t.Helper()
	_, err := f.operator().TakeFiles(f.t.Context(), "orders", config(f.t), f.files(time.Hour), operate.Options{})
	return err
}

func (f filesOf) leave(gone operate.Gone) error {
	f.t.Helper()
	ctx, stop := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer stop()
	_, err := f.operator().LeaveFiles(ctx, "orders", f.files(-time.Hour), gone, operate.Options{})
	return err
}

// theirs are the jobs that the registry says the files name.
func (f filesOf) theirs() []string {
	f.t.Helper()
	list, revision, err := f.handles[f.name].List(f.t.Context(), registry.Root)
	require.NoError(f.t, err)
	return operate.FilesOf(registry.NewSnapshot(revision, list), f.owner)
}

func causeOf(err error) operate.Cause {
	cause, _ := operate.IsRefused(err)
	return cause
}

// The files that name a job in its former home are no files of the new one: a worker there that does not have them takes nothing
// away from the job, and files there may name it, whoever has them.
func TestFilesDoNotMoveWithAJob(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"shop", "market"} {
		w := newWorld(t)
		w.store("a")
		require.NoError(t, filesOf{w, "a", "shop"}.take())
		require.Equal(t, []string{"orders"}, filesOf{w, "a", "shop"}.theirs())

		dry, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{DryRun: true})
		require.NoError(t, err)
		moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
		require.NoError(t, err)
		told := []string{`the files of "shop" name it, and do not move: bring its file to the workers of b when it has moved, not before, and take it away from those of a`}
		require.Equal(t, told, dry.Notes)
		require.Equal(t, told, moved.Notes)

		there := filesOf{w, "b", next}
		require.Empty(t, there.theirs())
		require.Equal(t, operate.CauseFiles, causeOf(there.leave(operate.GoneRemove)))
		w.livesOnlyIn("b")

		require.NoError(t, there.take(), "files of %s", next)
		require.Equal(t, []string{"orders"}, there.theirs())
		require.NoError(t, there.leave(operate.GoneKeep))
		require.NotEqual(t, operate.CauseFiles, causeOf(filesOf{w, "a", "shop"}.leave(operate.GoneRemove)), "it has left")
		w.livesOnlyIn("b")
	}
}

// A mover that died tells in the next call what it would have told.
func TestFilesAreToldOfByWhoGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store("a")
	require.NoError(t, filesOf{w, "a", "shop"}.take())
	w.diesBefore("b")
	moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
	require.NoError(t, err)
	require.Len(t, moved.Notes, 1)
	require.Empty(t, filesOf{w, "b", "shop"}.theirs())
}

// A move that is called off leaves the job to its files.
func TestFilesStayWithAJobThatDoesNotMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store("a")
	require.NoError(t, filesOf{w, "a", "shop"}.take())
	w.runs("a", 1)
	ctx, stop := context.WithCancel(t.Context())
	_, err := w.directory(func(name string, txn registry.Txn, do func() error) error {
		err := do()
		if name == "a" && !tries(txn) { // it is stopped
			stop()
		}
		return err
	}).Move(ctx, "orders", "b", home.MoveOptions{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = filesOf{w, "a", "shop"}.operator().EnableJob(t.Context(), "orders", operate.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"orders"}, filesOf{w, "a", "shop"}.theirs())
}

// A job that was disabled because no file named it is enabled by those that name it in its new home.
func TestFilesEnableWhatFilesHaveDisabledElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store("a")
	require.NoError(t, filesOf{w, "a", "shop"}.take())
	require.NoError(t, filesOf{w, "a", "shop"}.leave(operate.GoneDisable))
	moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"it is disabled because no file named it, and stays so until files in b do, or somebody enables it"}, moved.Notes)
	require.NotEqual(t, config(t), w.nodes("b")[orders.Config()])
	require.NoError(t, filesOf{w, "b", "market"}.take())
	w.livesOnlyIn("b")
}
