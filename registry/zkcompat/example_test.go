package zkcompat_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/elasticron/elasticron/registry/zkcompat"
)

// A handle on the namespace of Java instances of Elastic-Job-Lite; servers and namespace are those of their
// ZookeeperConfiguration. A scheduler over it takes part in their jobs with scheduler.WithJavaPeers.
func Example() {
	ctx := context.Background()
	reg, err := zkcompat.Open(ctx, zkcompat.Config{
		Servers: []string{"zk1:2181", "zk2:2181", "zk3:2181"}, Namespace: "shop", SessionTimeout: 40 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close(ctx)
	jobs, err := reg.Children(ctx, "/")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(jobs)
}
