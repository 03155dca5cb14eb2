// Command elasticron shows and operates the jobs of a cluster, runs workers for script and HTTP jobs, and serves the
// console.
//
//	elasticron get jobs
//
// lists the jobs of a namespace; docs/cli.md describes all commands.
//
//	go run ./cmd/elasticron demo
//
// needs nothing but Go: it runs a cluster of processes on this machine, kills one of them, has another
// join, and checks that nothing is missed and nothing counted twice.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

func main() {
	crashBySignal()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out a command line and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	return newProgram().run(ctx, args, out, errOut)
}

func (p *program) run(ctx context.Context, args []string, out, errOut io.Writer) int {
	root := newRoot(p) //nolint:contextcheck // cobra hands the context to the commands
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetOut(out)
	root.SetErr(errOut)
	strict(root)
	err := root.ExecuteContext(ctx)
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "elasticron:", printableLines(err.Error()))
	}
	return statusOf(err)
}
