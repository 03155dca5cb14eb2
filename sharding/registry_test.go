package sharding_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/sharding"
)

// Jobs store these names: changing or dropping one breaks those that run.
func TestDefaultNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"AVG_ALLOCATION",
		"ODEVITY",
		"ROUND_ROBIN",
		"average",
		"com.dangdang.ddframe.job.lite.api.strategy.impl.AverageAllocationJobShardingStrategy",
		"com.dangdang.ddframe.job.lite.api.strategy.impl.OdevitySortByNameJobShardingStrategy",
		"com.dangdang.ddframe.job.lite.api.strategy.impl.RotateServerByNameJobShardingStrategy",
		"minimal-movement",
		"odevity",
		"rotate",
	}, sharding.Default().Names())
}

func TestDefaultNamesMeanWhatTheySay(t *testing.T) {
	t.Parallel()
	const java = "com.dangdang.ddframe.job.lite.api.strategy.impl."
	// For this job, with an even hash that rotates by 1, no two strategies agree.
	request := sharding.Request{
		Job: "t_job", Instances: []string{"a", "b", "c"}, Total: 4,
		Current: sharding.Assignment{"a", "a", "b", "c"},
	}
	for _, row := range []struct {
		names []string
		want  sharding.Assignment
	}{
		{
			[]string{"", "average", "AVG_ALLOCATION", java + "AverageAllocationJobShardingStrategy"},
			sharding.Assignment{"c", "b", "a", "c"},
		},
		{
			[]string{"odevity", "ODEVITY", java + "OdevitySortByNameJobShardingStrategy"},
			sharding.Assignment{"a", "b", "c", "a"},
		},
		{
			[]string{"rotate", "ROUND_ROBIN", java + "RotateServerByNameJobShardingStrategy"},
			sharding.Assignment{"b", "a", "c", "b"},
		},
		{
			[]string{"minimal-movement"},
			sharding.Assignment{"a", "a", "b", "c"},
		},
	} {
		for _, name := range row.names {
			strategy, err := sharding.Default().Lookup(name)
			require.NoError(t, err)
			require.Equal(t, row.want, run(t, strategy, request), "strategy %q", name)
		}
	}
}

func TestLookupOfAnUnknownName(t *testing.T) {
	t.Parallel()
	var strategies sharding.Registry
	require.NoError(t, strategies.Register("by-zone", answer("a")))
	require.NoError(t, strategies.Register("by-age", answer("a")))
	_, err := strategies.Lookup("com.acme.ByZone")
	var unknown *sharding.UnknownStrategyError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "com.acme.ByZone", unknown.Name)
	require.Equal(t, []string{"by-age", "by-zone"}, unknown.Known)
	require.EqualError(t, err, `unknown sharding strategy "com.acme.ByZone", registered are: by-age, by-zone`)
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	strategies := sharding.Default()
	for _, row := range []struct {
		name     string
		strategy sharding.Strategy
		want     string
	}{
		{"", answer("a"), "invalid strategy: its name is empty"},
		{"mine", nil, `invalid strategy: "mine" is nil`},
		{"mine", sharding.StrategyFunc(nil), `invalid strategy: "mine" is nil`},
		{"average", answer("a"), `invalid strategy: the name "average" is taken`},
	} {
		err := strategies.Register(row.name, row.strategy)
		require.ErrorIs(t, err, sharding.ErrInvalidStrategy)
		require.EqualError(t, err, row.want)
	}
	require.Equal(t, sharding.Default().Names(), strategies.Names())
}

func TestDefaultIsNotGlobal(t *testing.T) {
	t.Parallel()
	require.NoError(t, sharding.Default().Register("mine", answer("a")))
	_, err := sharding.Default().Lookup("mine")
	require.Error(t, err)
}

func TestRegistryIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	strategies := sharding.Default()
	var users sync.WaitGroup
	for i := range 8 {
		users.Go(func() {
			name := fmt.Sprintf("mine-%d", i)
			if err := strategies.Register(name, answer("a")); err != nil {
				t.Errorf("register %s: %v", name, err)
			}
			if _, err := strategies.Lookup(name); err != nil {
				t.Errorf("look up %s: %v", name, err)
			}
			strategies.Names()
		})
	}
	users.Wait()
	require.Len(t, strategies.Names(), len(sharding.Default().Names())+8)
}
