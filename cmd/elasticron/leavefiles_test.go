package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
)

// Files own a job's settings until somebody gives that up, who changes no setting by it.
func TestEditLeavesFiles(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	stored := value(t, reg, jobtree.For("orders").Config())
	op, err := operate.New(reg, operate.By("worker", "test"))
	require.NoError(t, err)
	take := func(owner string) error {
		_, err := op.TakeFiles(t.Context(), "orders", stored, operate.Files{Owner: owner, Version: 1}, operate.Options{})
		return err
	}
	require.NoError(t, take("one"))
	require.ErrorContains(t, take("two"), `the job is one of the files of "one"`)

	leave := []string{"edit", "orders", "--leave-files", "--yes"}
	_, errOut, status := w.does(t, append(leave, w.withServer(t)...)...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "--leave-files does not go through a server")
	_, errOut, status = w.does(t, on(append(leave, "--set", "failover=true")...)...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "--leave-files changes no setting")

	out := w.must(t, on(leave...)...)
	require.Contains(t, out, "a worker whose files of \"one\" name it takes it back")
	require.Equal(t, stored, value(t, reg, jobtree.For("orders").Config()))
	_, errOut, status = w.does(t, on(leave...)...)
	require.Equal(t, exitRefused, status)
	require.Contains(t, errOut, "the job is of no files")
	require.NoError(t, take("two"))
}
