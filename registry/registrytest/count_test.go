package registrytest_test

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/registry/registrytest"
)

// Count what an action costs on any backend.
func ExampleCount() {
	ctx := context.Background()
	r := memory.NewServer().Open("shop")
	defer func() { _ = r.Close(ctx) }()

	counted := registrytest.Count(r)
	put := func(path string) registry.Txn { return registry.Txn{Then: []registry.Write{registry.Put(path, "")}} }
	_, _ = counted.Commit(ctx, put("/a"))
	counted.CommitAll(ctx, []registry.Txn{put("/b"), put("/c")})
	_, _ = counted.Get(ctx, "/a")
	_, _, _ = counted.List(ctx, "/")
	_, _ = counted.Children(ctx, "/")
	_, _ = counted.View(ctx, "/")
	_, _ = counted.ServerTime(ctx)
	fmt.Printf("%+v\n", counted.Calls())

	// Output:
	// {Commits:2 Transactions:3 Reads:3 Views:1 Times:1}
}
