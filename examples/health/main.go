// Command health serves the health report of a scheduler on a free port of the loopback address, asks
// for it as a load balancer would, and ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("example")
	s, err := scheduler.New(reg)
	if err != nil {
		return err
	}
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	if _, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@every 1s", ShardingTotalCount: 3}, work); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: health.Handler(s), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	<-s.Ready()
	for _, path := range []string{"/live", "/ready", "/cluster", "/"} {
		if err := show("http://" + listener.Addr().String() + path); err != nil {
			return err
		}
	}
	stop()
	return errors.Join(<-ran, server.Close(), reg.Close(context.Background()))
}

func show(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	fmt.Printf("%s: %s\n%s\n", url, answer.Status, body)
	return err
}
