package scheduler_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func TestWhoWinsAConflict(t *testing.T) {
	t.Parallel()
	overwriting := jobOf(5)
	overwriting.Java.Overwrite = true // as a Java application says it
	for name, test := range map[string]struct {
		declared job.Config
		opts     []scheduler.JobOption
		wins     string // of "code" and "registry"; empty = refused
		warned   bool
	}{
		"the registry, by default":      {declared: jobOf(5), wins: "registry", warned: true},
		"the registry":                  {declared: overwriting, opts: onConflict(scheduler.RegistryWins), wins: "registry", warned: true},
		"the registry, as this is Go":   {declared: overwriting, wins: "registry", warned: true},
		"the code":                      {declared: jobOf(5), opts: onConflict(scheduler.CodeWins), wins: "code"},
		"nobody":                        {declared: jobOf(5), opts: onConflict(scheduler.RefuseConflict)},
		"there is none":                 {declared: jobOf(3), opts: onConflict(scheduler.RefuseConflict), wins: "registry"},
		"there is none, and no warning": {declared: jobOf(3), wins: "registry"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := memory.NewServer()
			require.NoError(t, declare(t, server, jobOf(3)))
			before := stored(t, server)["/orders/config"]
			reg := server.Open("test")
			defer func() { require.NoError(t, reg.Close(context.Background())) }()
			var log lines
			s, err := scheduler.New(reg, scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			require.NoError(t, err)
			_, err = s.Add(t.Context(), test.declared, nothing, test.opts...)
			after := stored(t, server)["/orders/config"]
			switch test.wins {
			case "code":
				require.NoError(t, err)
				require.Contains(t, after, `"shardingTotalCount":5`)
			case "registry":
				require.NoError(t, err)
				require.Equal(t, before, after)
			default:
				require.ErrorIs(t, err, scheduler.ErrConfigConflict)
				require.ErrorContains(t, err, "differs in ShardingTotalCount (shardingTotalCount: stored 3, declared 5);")
				require.Equal(t, before, after)
			}
			over, end := context.WithCancel(t.Context())
			end()
			require.NoError(t, s.Run(over), "it has the log take all lines")
			const values = `fields=ShardingTotalCount differences="shardingTotalCount: stored 3, declared 5" decided_by=OnConflict`
			told := func(message string) bool {
				return log.count(message) == 1 && log.count(values) == 1
			}
			require.Equal(t, test.wins == "code", told("has replaced the stored one"))
			require.Equal(t, test.warned, told("differs from the declared one"))
		})
	}
}

func onConflict(c scheduler.Conflict) []scheduler.JobOption {
	return []scheduler.JobOption{scheduler.OnConflict(c)}
}

func TestAConflictPolicyIsChecked(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	_, err = s.Add(t.Context(), jobOf(1), nothing, scheduler.OnConflict("code"))
	require.ErrorIs(t, err, scheduler.ErrInvalidOption)
	require.ErrorContains(t, err, `"registry wins", "code wins" and "refuse"`)
}

// A declaration that replaces what is stored is written down with it, as operations are, so nobody takes it for a
// change from outside, and an operator can go back.
func TestADeploymentIsWrittenDown(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	require.NoError(t, declare(t, server, jobOf(3)))
	before := stored(t, server)["/orders/config"]
	require.NotContains(t, stored(t, server), "/orders/operated", "nothing was replaced")
	require.NoError(t, declare(t, server, jobOf(5)))
	require.NotContains(t, stored(t, server), "/orders/operated", "the registry wins")
	put(t, server, "/orders/operated", `{"later":1,"operations":[{"id":"A","verb":"paint","colour":"red"}],"removing":"yes"}`)
	require.NoError(t, declare(t, server, jobOf(5), scheduler.OnConflict(scheduler.CodeWins)))
	require.NoError(t, declare(t, server, jobOf(5), scheduler.OnConflict(scheduler.CodeWins)))

	reg := server.Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	node, err := reg.Get(t.Context(), "/orders/operated")
	require.NoError(t, err)
	operated, err := jobtree.DecodeOperated(node)
	require.NoError(t, err)
	require.Len(t, operated.Operations, 2, "what is so already is not written down")
	require.Equal(t, `"colour":"red"`, operated.Operations[0].Unknown)
	require.Equal(t, "yes", operated.Removing)
	require.Equal(t, `"later":1`, operated.Unknown)
	declared := operated.Operations[1]
	require.Equal(t, "declare", declared.Verb)
	require.Equal(t, "shardingTotalCount: stored 3, declared 5", declared.Changed)
	require.Equal(t, before, declared.Before)
	require.Contains(t, declared.Who, "@-@")
	require.False(t, declared.When.IsZero())
	config, err := reg.Get(t.Context(), "/orders/config")
	require.NoError(t, err)
	require.Equal(t, config.Revision, node.Revision, "in one transaction")

	// What a newer version wrote stays as it is, and the code wins all the same.
	put(t, server, "/orders/operated", `{"format":9}`)
	require.NoError(t, declare(t, server, jobOf(7), scheduler.OnConflict(scheduler.CodeWins)))
	require.Equal(t, `{"format":9}`, stored(t, server)["/orders/operated"])
	require.Contains(t, stored(t, server)["/orders/config"], `"shardingTotalCount":7`)
}

// Code that declares a job as disabled that is not is told so, whoever wins: it counts at the first declaration alone.
func TestADeclarationDisablesNothing(t *testing.T) {
	t.Parallel()
	for _, conflict := range []scheduler.Conflict{scheduler.RegistryWins, scheduler.CodeWins, scheduler.RefuseConflict} {
		server := memory.NewServer()
		for _, disabled := range []bool{false, true, false} {
			cfg := jobOf(1)
			cfg.Disabled = disabled
			var log lines
			reg := server.Open("test")
			s, err := scheduler.New(reg, scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			require.NoError(t, err)
			_, err = s.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), scheduler.OnConflict(conflict))
			require.NoError(t, err)
			over, end := context.WithCancel(t.Context())
			end()
			require.NoError(t, s.Run(over), "it has the log take all lines")
			require.Equal(t, disabled, log.count("the job is declared as disabled and is not") == 1)
			require.NoError(t, reg.Close(context.Background()))
		}
		require.NotContains(t, stored(t, server)["/orders/config"], `"disabled":true`)
	}
}

// What code changes by the handle of a job is written down, too.
func TestAnUpdateIsWrittenDown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(3))
		before := stored(t, c.server)["/orders/config"]
		for range 2 { // the second one changes nothing
			require.NoError(t, ordersOf(t, a).Update(t.Context(), func(cfg *job.Config) error { cfg.ShardingTotalCount = 5; return nil }))
		}
		operated, err := jobtree.DecodeOperated(registry.Node{Path: "/orders/operated", Value: stored(t, c.server)["/orders/operated"]})
		require.NoError(t, err)
		require.Len(t, operated.Operations, 1)
		op := operated.Operations[0]
		require.Equal(t, "update", op.Verb)
		require.Equal(t, "shardingTotalCount 3 -> 5", op.Changed)
		require.Equal(t, before, op.Before)
		require.Equal(t, fullID("a"), op.Who)

		put(t, c.server, "/orders/operated", `{"format":9}`)
		require.NoError(t, ordersOf(t, a).Update(t.Context(), func(cfg *job.Config) error { cfg.ShardingTotalCount = 4; return nil }))
		require.Equal(t, `{"format":9}`, stored(t, c.server)["/orders/operated"], "what a newer version wrote stays as it is")
	})
}

// overtaken is a registry in which somebody writes before the next transaction.
type overtaken struct {
	*memory.Registry
	by func()
}

func (r *overtaken) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	r.by()
	return r.Registry.Commit(ctx, txn)
}

// An operator who is faster is neither overwritten nor forgotten.
func TestADeploymentWhileSomebodyOperatesTheJob(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	require.NoError(t, declare(t, server, jobOf(3)))
	reg := &overtaken{server.Open("test"), sync.OnceFunc(func() {
		put(t, server, "/orders/operated", `{"operations":[{"id":"A","verb":"reshard"}]}`)
	})}
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	require.NoError(t, errOf(s.Add(t.Context(), jobOf(5), nothing, scheduler.OnConflict(scheduler.CodeWins))))
	node, err := reg.Get(t.Context(), "/orders/operated")
	require.NoError(t, err)
	operated, err := jobtree.DecodeOperated(node)
	require.NoError(t, err)
	require.Len(t, operated.Operations, 2)
	require.Equal(t, "A", operated.Operations[0].ID)
	require.Contains(t, stored(t, server)["/orders/config"], `"shardingTotalCount":5`)
}
