package operate_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// An operation reads once and commits once, and its confirmation costs no request; so does one on a hundred jobs, but
// for the requests that a registry's limits take.
func TestWhatOperationsCost(t *testing.T) {
	t.Parallel()
	for name, a := range attempts() {
		g := newGround(t)
		a.prepare(g)
		before := g.registry.Stats()
		require.NoError(t, a.do(t.Context(), g))
		after := g.registry.Stats()
		reads, commits := 1, 1
		switch name {
		case "remove", "begin to remove":
			reads, commits = 2, 2
		case "remove, its configuration first", "remove, a part", "remove, the rest":
			reads, commits = 4, 5 // two of the reads are the test's own, which counts what is to be deleted
		case "backfill": // all fires are judged before the first
			reads = 2
		}
		require.Equal(t, reads, after.ReadRequests-before.ReadRequests, name)
		require.Equal(t, commits, after.CommitRequests-before.CommitRequests, name)
	}

	g := newGround(t)
	for _, name := range many(g, 100) {
		g.do(registry.Put(jobtree.For(name).Server("10.0.0.1"), ""))
	}
	before := g.registry.Stats()
	require.NoError(t, errOf(g.op.DisableServerEverywhere(t.Context(), "10.0.0.1", silent())))
	after := g.registry.Stats()
	require.Equal(t, 1, after.ReadRequests-before.ReadRequests)
	require.Less(t, after.CommitRequests-before.CommitRequests, 10)
	require.Equal(t, 101, after.Transactions-before.Transactions)
}

// Of any number of operators at once, each sees what those before it did: no change is lost, and each that was done is
// written down.
func TestNoChangeIsLost(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	const operators, times = 6, 8
	increment := change(func(c *job.Config) {
		n, _ := strconv.Atoi(c.JobParameter)
		c.JobParameter = strconv.Itoa(n + 1)
	})
	var all sync.WaitGroup
	errs := make(chan error, operators*times)
	for i := range operators {
		op := g.operator(fmt.Sprintf("operator-%d", i))
		all.Go(func() {
			for range times {
				errs <- errOf(op.ChangeSettings(t.Context(), theJob, increment, silent()))
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, strconv.Itoa(operators*times), g.tree().Config.Value.JobParameter)
	operations := g.operated().Operations
	for i, op := range operations {
		before, err := jobtree.DecodeConfig(registry.Node{Path: nodes.Config(), Value: op.Before, Revision: 1})
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(operators*times-len(operations)+i), before.JobParameter, "in the order in which they were done")
	}
}

// What somebody wrote by hand in a session is not made to outlive it.
func TestANodeThatASessionOwns(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.PutOwned(nodes.Server("10.0.0.1"), "", g.sessions[second]))
	refusal := g.refused(operate.CauseOwned, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", silent())))
	require.Contains(t, refusal.Error(), "/orders/servers/10.0.0.1")
	require.Contains(t, refusal.Error(), "delete the node that is named")
	require.ErrorIs(t, refusal, registry.ErrOwned)
	g.server.SetFull(true)
	full := g.refused(operate.CauseNoSpace, errOf(g.op.DisableItem(t.Context(), theJob, 1, silent())))
	require.True(t, errors.Is(full, registry.ErrNoSpace))
}
