// Command dump serves the dump port of a scheduler on a free port of the loopback address, asks it as
// netcat would, and ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"time"

	"github.com/elasticron/elasticron/dump"
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
	cfg := job.Config{
		Name:               "orders",
		Cron:               "@every 1s",
		ShardingTotalCount: 2,
		JobParameter:       "a key that is nobody's affair",
	}
	if _, err := s.Add(ctx, cfg, work); err != nil {
		return err
	}
	server, err := dump.Listen(s, "127.0.0.1:0")
	if err != nil {
		return err
	}
	ended := make(chan error, 2) // of the two below
	go func() { ended <- s.Run(ctx) }()
	go func() { ended <- server.Serve(ctx) }()
	<-s.Ready()
	if err := ask(server.Addr().String()); err != nil {
		return err
	}
	stop()
	return errors.Join(<-ended, <-ended, reg.Close(context.Background()))
}

func ask(address string) error {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if _, err := io.WriteString(connection, "dump@orders\n"); err != nil {
		return err
	}
	text, err := io.ReadAll(connection)
	fmt.Print(string(text))
	return err
}
