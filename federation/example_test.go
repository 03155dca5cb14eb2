package federation_test

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// Two registries, of which one is for the jobs of the accountants. In production Open calls etcd.Open.
func Example() {
	one, two := memory.NewServer(), memory.NewServer()
	f, err := federation.New("one", []federation.Registry{
		{Name: "one", Open: func(context.Context) (registry.Registry, error) { return one.Open("shop"), nil }},
		{Name: "two", Open: func(context.Context) (registry.Registry, error) { return two.Open("shop"), nil }},
	}, federation.WithRule(federation.ByPrefix(map[string]string{"accounts-": "two"}, federation.Rendezvous("one"))))
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	for _, name := range []string{"accounts-close", "orders"} {
		j, err := f.Add(ctx, job.Config{Name: name, Cron: "@daily", ShardingTotalCount: 4}, job.HandlerFunc(
			func(context.Context, job.ShardingContext) error { return nil }))
		if err != nil {
			panic(err)
		}
		fmt.Println(j.Name(), "is in", j.Registry())
	}
	stop() // or when the process is told to
	fmt.Println(f.Run(ctx))
	// Output:
	// accounts-close is in two
	// orders is in one
	// <nil>
}
