package seed_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

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

// A file with faults is refused as a whole, and the error names each of them.
func ExampleReadFile() {
	name := filepath.Join(os.TempDir(), "example-jobs.yaml")
	text := "orders:\n  config:\n    cron: 0 0/5 * * * ?\n    shardingTotalCount: 0\n    timeZone: Mars\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.Remove(name) }()
	_, err := seed.ReadFile(name)
	fmt.Println(errors.Is(err, seed.ErrInvalid))
	fmt.Println(strings.Contains(err.Error(), "shardingTotalCount"), strings.Contains(err.Error(), "between 1 and 100000"))
	// Output:
	// true
	// true true
}

// The same file in the form of Elastic-Job 1.x, and what a run would do.
func ExampleParseProperties() {
	ctx := context.Background()
	reg := memory.NewServer().Open("shop")
	defer func() { _ = reg.Close(ctx) }()
	file, err := seed.ParseProperties([]byte(
		`/orders/config={"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"0 0/5 * * * ?","shardingTotalCount":4,"misfire":true}
/orders/servers/10.0.0.7=DISABLED
`))
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := seed.Run(ctx, reg, file, seed.Options{DryRun: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range nodes {
		fmt.Println(n.Path, n.Action)
	}
	// Output:
	// /orders/config created
	// /orders/servers/10.0.0.7 created
}
