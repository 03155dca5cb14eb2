package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// The jobs become those of the table, and nobody else's change. A second call has nothing left to do.
func TestReconcile(t *testing.T) {
	t.Parallel()
	reg, op := opened(t)
	somebodyElses(t, op, "other")
	a := row{cron: "@hourly", parameter: "x", items: 2}
	steps := []struct {
		wanted table
		before func()
	}{
		{wanted: table{"table-a": a, "table-b": a}},
		{wanted: table{"table-a": {cron: "@daily", parameter: "y", items: 1}, "table-b": a}}, // fewer items
		{wanted: table{"table-b": a}},
		{wanted: table{"table-b": a}, before: func() { beginRemoval(t, reg, "table-b") }}, // a removal stopped halfway
		{wanted: table{}},
	}
	for _, s := range steps {
		if s.before != nil {
			s.before()
		}
		require.NoError(t, reconcile(t.Context(), reg, op, s.wanted))
		require.Equal(t, s.wanted, storedBy(t, op))
		_, was, err := reg.List(t.Context(), registry.Root)
		require.NoError(t, err)
		require.NoError(t, reconcile(t.Context(), reg, op, s.wanted))
		_, is, err := reg.List(t.Context(), registry.Root)
		require.NoError(t, err)
		require.Equal(t, was, is, "where nothing differs nothing is written")
	}
	names, err := op.Match(t.Context(), "*")
	require.NoError(t, err)
	require.Equal(t, []string{"other"}, names)
}

// A row whose job could be somebody else's is refused, and the others count.
func TestATableHasNamesOfItsOwn(t *testing.T) {
	t.Parallel()
	reg, op := opened(t)
	somebodyElses(t, op, "other")
	a := row{cron: "@hourly", parameter: "x", items: 2}
	err := reconcile(t.Context(), reg, op, table{"table-a": a, "other": a, "new": a})
	for _, name := range []string{"other", "new"} {
		require.ErrorContains(t, err, fmt.Sprintf("the table has a job %q: the names of its jobs must begin with \"table-\"", name))
	}
	require.Equal(t, table{"table-a": a}, storedBy(t, op))
	stored, err := operate.ReadNamespace(t.Context(), reg, time.Now())
	require.NoError(t, err)
	j, known := stored.Job("other")
	require.True(t, known)
	require.Equal(t, "@daily", j.Cron)
	_, known = stored.Job("new")
	require.False(t, known)
}

// An operator has disabled a job: it stays so, whatever the table changes.
func TestATableDoesNotEnable(t *testing.T) {
	t.Parallel()
	reg, op := opened(t)
	require.NoError(t, reconcile(t.Context(), reg, op, table{"table-a": {cron: "@hourly", items: 1}}))
	_, err := op.DisableJob(t.Context(), "table-a", operate.Options{})
	require.NoError(t, err)
	require.NoError(t, reconcile(t.Context(), reg, op, table{"table-a": {cron: "@daily", items: 1}}))
	stored, err := operate.ReadNamespace(t.Context(), reg, time.Now())
	require.NoError(t, err)
	j, known := stored.Job("table-a")
	require.True(t, known)
	require.True(t, j.Disabled)
	require.Equal(t, "@daily", j.Cron)
}

// opened returns an empty registry, and who operates it by the table.
func opened(t *testing.T) (registry.Registry, *operate.Operator) {
	t.Helper()
	reg := memory.NewServer().Open("example")
	op, err := operate.New(reg, operate.By("table", "test"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	return reg, op
}

// somebodyElses stores a job that the table knows nothing of.
func somebodyElses(t *testing.T, op *operate.Operator, name string) {
	t.Helper()
	_, err := op.Create(t.Context(), job.Config{Name: name, Cron: "@daily", ShardingTotalCount: 1}, operate.Options{})
	require.NoError(t, err)
}

// storedBy returns what is stored of the jobs that the table decides about, and that none of them is disabled.
func storedBy(t *testing.T, op *operate.Operator) table {
	t.Helper()
	names, err := op.Match(t.Context(), ours+"*")
	require.NoError(t, err)
	all := make(table)
	for _, name := range names {
		look := operate.Settings{Change: func(c *job.Config) error {
			require.False(t, c.Disabled, name)
			all[name] = row{cron: c.Cron, parameter: c.JobParameter, items: c.ShardingTotalCount}
			return nil
		}}
		_, err := op.ChangeSettings(t.Context(), name, look, operate.Options{DryRun: true})
		require.NoError(t, unless(operate.CauseAlready, err))
	}
	return all
}

// beginRemoval begins to remove a job and dies.
func beginRemoval(t *testing.T, reg registry.Registry, name string) {
	t.Helper()
	ctx, die := context.WithCancel(t.Context())
	op, err := operate.New(mortal{reg, die}, operate.By("table", "test"))
	require.NoError(t, err)
	_, err = op.Remove(ctx, name, operate.Options{})
	require.ErrorIs(t, err, context.Canceled)
	stored, err := operate.ReadNamespace(t.Context(), reg, time.Now())
	require.NoError(t, err)
	j, known := stored.Job(name)
	require.True(t, known)
	require.True(t, j.Disabled)
}

// mortal is the registry of one who dies after the first thing that he writes.
type mortal struct {
	registry.Registry
	die func()
}

func (m mortal) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	defer m.die()
	return m.Registry.Commit(ctx, txn)
}
