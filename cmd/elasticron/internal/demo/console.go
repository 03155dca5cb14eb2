package demo

import (
	"context"
	"fmt"
	"net"

	"github.com/elasticron/elasticron/console"
	"github.com/elasticron/elasticron/operate"
)

// namespaceShown is what the console calls the demo's namespace.
const namespaceShown = "demo"

// openConsole serves the console over the demo's namespace until it is closed. With no address it does nothing.
func openConsole(ctx context.Context, address string, reg operate.Store, tell *narrator) (closeConsole func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	server, err := console.New(ctx, console.Config{Namespaces: []console.Namespace{{Name: namespaceShown, Registry: reg}}})
	if err != nil {
		_ = listener.Close() // nobody has used it
		return nil, fmt.Errorf("console: %w", err)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while the processes hand over
	served := make(chan error, 1)
	go func() { served <- server.Serve(serving, listener, nil) }()
	tell.say(accent, "the console is at http://%s/", listener.Addr())
	return func() error {
		stop()
		return <-served
	}, nil
}
