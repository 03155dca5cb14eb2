package operate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/operate"
)

// A job whose files have gone with their worker is one of other files when somebody has given it up.
func TestFilesAreGivenUp(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	market := operate.Files{Owner: "market", Version: 1}
	require.NoError(t, g.take(7, g.text(daily1)))
	g.refused(operate.CauseFiles, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), market, silent())))

	dry, err := g.op.GiveUpFiles(t.Context(), theJob, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Equal(t, []operate.Change{{What: "files", Before: "shop"}}, dry.Changes)
	require.Contains(t, dry.Warnings[0], `a worker whose files of "shop" name it takes it back`)
	require.Equal(t, "shop", g.operated().Files.Owner)

	_, err = g.op.GiveUpFiles(t.Context(), theJob, silent())
	require.NoError(t, err)
	require.Nil(t, g.operated().Files)
	require.Equal(t, g.text(daily1), g.value(nodes.Config()), "the job stays as it is")
	g.refused(operate.CauseAlready, errOf(g.op.GiveUpFiles(t.Context(), theJob, silent())))
	g.refused(operate.CauseFiles, g.leaveFiles(9, operate.GoneRemove))
	require.NoError(t, errOf(g.op.TakeFiles(t.Context(), theJob, g.text(nil), market, silent())), "of whatever version")
	require.Equal(t, "market", g.operated().Files.Owner)
	g.refused(operate.CauseUnknownJob, errOf(g.op.GiveUpFiles(t.Context(), "nowhere", silent())))
}
