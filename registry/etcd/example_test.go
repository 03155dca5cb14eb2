package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// Two processes want to lead. The guard lets one of them win, and tells the other who did.
func Example() {
	ctx := context.Background()
	server, err := embedded.Start(ctx, embedded.WithFastTest())
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	for _, process := range []string{"a", "b"} {
		reg, err := etcd.Open(ctx, etcd.Config{Endpoints: server.Endpoints(), Namespace: "prod"})
		if err != nil {
			log.Fatal(err)
		}
		defer reg.Close(ctx)
		session, err := reg.Session(ctx)
		if err != nil {
			log.Fatal(err)
		}
		_, err = reg.Commit(ctx, registry.Txn{
			Then: []registry.Write{registry.PutOwned("/orders/leader/election/instance", process, session)},
		})
		var conflict *registry.ConflictError
		switch {
		case err == nil:
			fmt.Println(process, "leads")
		case errors.As(err, &conflict):
			fmt.Println(process, "lost to", conflict.Found.Value)
		default:
			log.Fatal(err)
		}
	}
	// Output:
	// a leads
	// b lost to a
}
