package zkcompat_test

import (
	"context"
	"log"
	"time"

	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

// A process joins the jobs that Java instances of Elastic-Job-Lite run. Server lists and namespace are those of
// their ZookeeperConfiguration.
func Example() {
	ctx := context.Background()
	reg, err := zkcompat.Open(ctx, zkcompat.Config{
		Servers: []string{"zk1:2181", "zk2:2181", "zk3:2181"}, Namespace: "shop", SessionTimeout: 40 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer reg.Close(ctx)
	s, err := scheduler.New(reg, scheduler.WithJavaPeers())
	if err != nil {
		log.Fatal(err)
	}
	// Declare the jobs with s.Add, as their Java instances do, then:
	if err := s.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
