package migrate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// First look, then do it. In earnest the source is a handle of registry/zkcompat, and the target one of
// registry/etcd.
func Example() {
	ctx := context.Background()
	source, target := memory.NewServer().Open("shop"), memory.NewServer().Open("shop")
	defer func() { _, _ = source.Close(ctx), target.Close(ctx) }()

	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4})
	if err != nil {
		log.Fatal(err)
	}
	_, err = source.Commit(ctx, registry.Txn{Then: []registry.Write{
		registry.Put("/orders/config", text), registry.Put("/orders/servers/10.0.0.7", "DISABLED"),
	}})
	if err != nil {
		log.Fatal(err)
	}

	for _, apply := range []bool{false, true, true} {
		report, err := migrate.Run(ctx, source, target, migrate.Options{Apply: apply, TimeZone: "Europe/Berlin"})
		if err != nil {
			log.Fatal(err)
		}
		for _, j := range report.Jobs {
			fmt.Println(j.Name, j.Action, len(j.Changes), "changes")
		}
	}
	// Output:
	// orders created 3 changes
	// orders created 3 changes
	// orders unchanged 0 changes
}
