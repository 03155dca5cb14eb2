package seed_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/seed"
)

// A process makes sure, before it starts its scheduler, that the jobs of a file are there.
func Example() {
	ctx := context.Background()
	reg := memory.NewServer().Open("shop")
	defer func() { _ = reg.Close(ctx) }()

	file, err := seed.ParseYAML([]byte(`
orders:
  config:
    cron: 0 0/5 * * * ?
    shardingTotalCount: 4
  sharding:
    3:
      disabled:
`))
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		nodes, err := seed.Run(ctx, reg, file, seed.Options{})
		if err != nil {
			log.Fatal(err)
		}
		for _, n := range nodes {
			fmt.Println(n.Path, n.Action)
		}
	}
	// Output:
	// /orders/config created
	// /orders/sharding/3/disabled created
	// /orders/config unchanged
	// /orders/sharding/3/disabled unchanged
}
