package dump_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"strings"
	"time"

	"github.com/elasticron/elasticron/dump"
	"github.com/elasticron/elasticron/job"
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

// What a client asks and gets: here, which nodes of the answer are about instances.
func ExampleServer() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("shop")
	defer reg.Close(context.Background())
	s, err := scheduler.New(reg, scheduler.WithInstanceID("10.0.0.7@-@1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	code := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	if _, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@triggered", ShardingTotalCount: 1}, code); err != nil {
		fmt.Println(err)
		return
	}
	server, err := dump.Listen(s, "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(ctx) }()
	go func() { ended <- s.Run(ctx) }()
	<-s.Ready()

	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := fmt.Fprintln(conn, "dump@orders"); err != nil {
		fmt.Println(err)
		return
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if path, _, _ := strings.Cut(lines.Text(), " |"); strings.HasPrefix(path, "/orders/instances") {
			fmt.Println(path)
		}
	}
	_ = conn.Close()
	stop()
	fmt.Println(<-ended, <-ended)
	// Output:
	// /orders/instances
	// /orders/instances/ip1@-@1
	// <nil> <nil>
}
