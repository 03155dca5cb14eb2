package memory_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// Two processes contend for the leadership of a job; the leader dies, and the other takes over when
// its session has ended.
func Example() {
	ctx := context.Background()
	server := memory.NewServer()
	one := server.Open("shop", memory.WithTTL(100*time.Millisecond))
	two := server.Open("shop", memory.WithTTL(100*time.Millisecond))
	defer func() { _ = two.Close(ctx) }()

	lead := func(r *memory.Registry, name string) error {
		session, err := r.Session(ctx)
		if err != nil {
			return err
		}
		_, err = r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.PutOwned("/orders/leader", name, session)}})
		return err
	}
	fmt.Println("one leads:", lead(one, "one") == nil)
	fmt.Println("two is refused:", errors.Is(lead(two, "two"), registry.ErrConflict))

	view, _ := two.View(ctx, "/orders")
	one.Vanish()
	_, _ = view.WaitFor(ctx, func(s registry.Snapshot) bool { return !s.Get("/orders/leader").Exists() })
	fmt.Println("two leads:", lead(two, "two") == nil)

	// Output:
	// one leads: true
	// two is refused: true
	// two leads: true
}
