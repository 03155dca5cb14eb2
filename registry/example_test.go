package registry_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// Read what must be known with a view, decide, and commit the decision under conditions that say what
// it relied upon. On a conflict wait until the view shows what was missed, and decide again.
func Example() {
	ctx := context.Background()
	server := memory.NewServer()
	mine, theirs := server.Open("shop"), server.Open("shop")
	defer func() { _ = mine.Close(ctx) }()
	defer func() { _ = theirs.Close(ctx) }()

	total := func(r registry.Committer, was registry.Node, value string) error {
		_, err := r.Commit(ctx, registry.Txn{
			If:   []registry.Condition{registry.Unchanged("/orders/total", was.Revision)},
			Then: []registry.Write{registry.Put("/orders/total", value)},
		})
		return err
	}
	view, err := mine.View(ctx, "/orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	decided := view.Snapshot().Get("/orders/total")
	_ = total(theirs, registry.Node{}, "3") // somebody is quicker

	var conflict *registry.ConflictError
	for err = total(mine, decided, "4"); errors.As(err, &conflict); err = total(mine, decided, "4") {
		fmt.Println(conflict.Condition, "does not hold, found", conflict.Found.Value)
		if err := view.WaitRevision(ctx, conflict.Revision); err != nil {
			fmt.Println(err)
			return
		}
		decided = view.Snapshot().Get("/orders/total")
	}
	fmt.Println("done:", err == nil)

	// Output:
	// /orders/total absent does not hold, found 3
	// done: true
}

// A listener hears of every change once, first of those that made the present state.
func ExampleView_Subscribe() {
	ctx := context.Background()
	r := memory.NewServer().Open("shop")
	defer func() { _ = r.Close(ctx) }()
	_, _ = r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/orders/config", "0/5 * * * * ?")}})

	view, err := r.View(ctx, "/orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	unsubscribe := view.Subscribe(func(step registry.Step) {
		for _, c := range step.Changes {
			fmt.Printf("%s %s: %q to %q\n", c.Kind(), c.Path(), c.Old.Value, c.New.Value)
		}
	})
	defer unsubscribe()
	revision, _ := r.Commit(ctx, registry.Txn{Then: []registry.Write{
		registry.Update("/orders/config", "0/9 * * * * ?"), registry.Put("/orders/servers/10.0.0.1", ""),
	}})
	_ = view.WaitRevision(ctx, revision)

	// Output:
	// added /orders/config: "" to "0/5 * * * * ?"
	// updated /orders/config: "0/5 * * * * ?" to "0/9 * * * * ?"
	// added /orders/servers/10.0.0.1: "" to ""
}

// A process that needs one of many children follows that one, and what lies beside their folder.
func ExampleViewParts() {
	ctx := context.Background()
	r := memory.NewServer().Open("shop")
	defer func() { _ = r.Close(ctx) }()
	_, _ = r.Commit(ctx, registry.Txn{Then: []registry.Write{
		registry.Put("/orders/config", "0/5 * * * * ?"),
		registry.Put("/orders/sharding/0/instance", "a"), registry.Put("/orders/sharding/1/instance", "b"),
	}})

	view, err := registry.ViewParts(ctx, r, "/orders", []registry.Part{{Folder: "/orders/sharding", Only: []string{"1"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer view.Close()
	for _, path := range []string{"/orders/config", "/orders/sharding/0/instance", "/orders/sharding/1/instance"} {
		fmt.Println(path, view.Snapshot().Get(path).Exists())
	}

	// Output:
	// /orders/config true
	// /orders/sharding/0/instance false
	// /orders/sharding/1/instance true
}
