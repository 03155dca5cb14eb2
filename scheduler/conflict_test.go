package scheduler_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
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
			var log bytes.Buffer
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
			const values = `fields=ShardingTotalCount differences="shardingTotalCount: stored 3, declared 5" decided_by=OnConflict`
			told := func(message string) bool {
				return strings.Count(log.String(), message) == 1 && strings.Count(log.String(), values) == 1
			}
			require.Equal(t, test.wins == "code", told("has replaced the stored one"), log.String())
			require.Equal(t, test.warned, told("differs from the declared one"), log.String())
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
