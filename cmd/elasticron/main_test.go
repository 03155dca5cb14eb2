package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"testing"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// asProgram has this test binary be the program itself, with how its demo processes misbehave as the
// value. The processes that the demo starts are this binary too.
const asProgram = "ELASTICRON_AS_PROGRAM"

// Values by which it is a program that crashes, and the very program, which waits for a registry no longer than a user's.
const (
	crashing  = "crashing"
	unchanged = "unchanged"
)

func TestMain(m *testing.M) {
	switch mode := os.Getenv(asProgram); mode {
	case "":
		flag.Parse()
		// These tests wait for processes, and hardly compute: more of them than processors may run.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		if signal.Ignored(os.Interrupt) { // in the background of a shell: who hears it hands on to programs what is usual
			signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		}
		os.Exit(m.Run())
	case sound:
		mainPatiently()
	case unchanged:
		main()
	case crashing:
		panicTwice()
	default:
		if os.Args[1] == demoProcess {
			breakReports(mode)
		}
		main()
	}
}

// mainPatiently is main, but for how long it waits for a registry, which a busy machine is slow to answer for.
func mainPatiently() {
	crashBySignal()
	p := newProgram()
	open := p.etcd
	p.etcd = func(ctx context.Context, c etcd.Config) (registry.Registry, error) {
		c.DialTimeout = time.Minute
		return open(ctx, c)
	}
	os.Exit(p.run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// panicTwice panics where that is recovered, as a job's code may, and where it is not.
func panicTwice() {
	crashBySignal()
	tellCoreLimit()
	func() {
		defer func() { fmt.Fprintln(os.Stderr, "recovered:", recover()) }()
		panic("by a job")
	}()
	panic("by the program")
}
