package embedded_test

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

func ExampleStart() {
	server, err := embedded.Start(context.Background(), embedded.WithFastTest())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	fmt.Println(len(server.Endpoints()), "endpoint, running:", server.Running())
	// Output: 1 endpoint, running: true
}
