package dump_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elasticron/elasticron/dump"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// The port of Elastic-Job: `echo dump | nc 127.0.0.1 9888` shows the tree of the job.
func Example() {
	s, err := scheduler.New(memory.NewServer().Open("shop"))
	if err != nil {
		log.Fatal(err)
	}
	server, err := dump.Listen(s, "127.0.0.1:9888", dump.WithJob("orders"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(server.Addr())
	if err := server.Serve(context.Background()); err != nil { // until the context ends
		log.Fatal(err)
	}
}
