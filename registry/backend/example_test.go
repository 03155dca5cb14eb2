package backend_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// A backend makes a view of what it has listed, feeds it what the store's watch reports, and gives it a
// fresh copy when the store has forgotten what changed. The view shows every difference once.
func ExampleNewView() {
	config := registry.Node{Path: "/orders/config", Value: "@hourly", Created: 3, Revision: 3}
	server := registry.Node{Path: "/orders/servers/10.0.0.1", Created: 9, Revision: 9}

	advance := func(context.Context, registry.Revision) {} // ask the store how far it is
	closed := func() { fmt.Println("the watch may end") }
	view, feed := backend.NewView("/orders", registry.NewSnapshot(7, []registry.Node{config}), advance, closed)
	view.Subscribe(func(step registry.Step) {
		for _, c := range step.Changes {
			fmt.Println("revision", step.Snapshot.Revision(), c.Kind(), c.Path())
		}
	})

	events := []backend.Event{{Path: server.Path, Node: server}, {Path: config.Path}} // a put and a removal
	feed.Apply(9, events)
	feed.Apply(9, events) // a watch may repeat itself
	config.Created, config.Revision = 12, 12
	feed.Replace(registry.NewSnapshot(14, []registry.Node{config, server}), nil)
	feed.End(registry.ErrClosed)
	fmt.Println(view.Err())

	// Output:
	// revision 7 added /orders/config
	// revision 9 removed /orders/config
	// revision 9 added /orders/servers/10.0.0.1
	// revision 14 added /orders/config
	// the watch may end
	// registry closed
}

// A backend reads the clock before it asks the store, and reports the answer.
func ExampleNewSession() {
	clock := backend.NewClock()

	sent := clock()
	id, ttl := registry.SessionID(0x31), time.Minute // what the store granted
	session, control := backend.NewSession(id, ttl, clock, sent)
	fmt.Println(session.State())

	control.Suspend() // the connection broke
	fmt.Println(session.State())

	sent = clock()
	control.Renew(sent) // the store confirmed a keep-alive
	fmt.Println(session.State())

	control.Lose(errors.New("the store does not know it any more"))
	fmt.Println(session.Err())

	// Output:
	// connected
	// suspended
	// connected
	// session lost: session 31: the store does not know it any more
}

// The first try of a transaction got no answer, and the second one met a conflict. With the conflict the
// store showed the node as the transaction writes it, changed since the first try was sent: so that try was
// done, and the conflict is with itself.
func ExampleSettle() {
	txn := registry.Txn{
		If:   []registry.Condition{registry.Unchanged("/orders/total", 5)},
		Then: []registry.Write{registry.Put("/orders/total", "4")},
	}
	found := registry.Node{Path: "/orders/total", Value: "4", Created: 2, Revision: 8}
	refusal := &registry.ConflictError{Condition: txn.If[0], Found: found, Revision: 8}

	revision, err := backend.Settle(txn, refusal, 6, []registry.Node{found})
	fmt.Println("done at", revision, err)

	// Output:
	// done at 8 <nil>
}
