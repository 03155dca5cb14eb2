package sharding_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/sharding"
)

// BenchmarkRun measures a resharding after one instance of many was replaced by another.
func BenchmarkRun(b *testing.B) {
	for _, size := range []struct{ instances, total int }{{3, 10}, {50, 1000}, {50, 10000}} {
		for _, name := range []string{
			sharding.NameAverage, sharding.NameOdevity, sharding.NameRotate, sharding.NameMinimal,
		} {
			b.Run(fmt.Sprintf("strategy=%s/instances=%d/items=%d", name, size.instances, size.total), func(b *testing.B) {
				benchmarkRun(b, name, size.instances, size.total)
			})
		}
	}
}

func benchmarkRun(b *testing.B, name string, instances, total int) {
	b.Helper()
	strategy, err := sharding.Default().Lookup(name)
	require.NoError(b, err)
	before, after := sharding.Request{Job: "orders", Total: total}, sharding.Request{Job: "orders", Total: total}
	for i := range instances {
		before.Instances = append(before.Instances, fmt.Sprintf("10.0.0.%d@-@4711", i))
		after.Instances = append(after.Instances, fmt.Sprintf("10.0.0.%d@-@4711", i+1))
	}
	after.Current = run(b, strategy, before)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sharding.Run(strategy, after); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkByInstance(b *testing.B) {
	a := sharding.NewAssignment(10000)
	for item := range a {
		a[item] = fmt.Sprintf("10.0.0.%d@-@4711", item%50)
	}
	b.ReportAllocs()
	for b.Loop() {
		a.ByInstance()
	}
}
