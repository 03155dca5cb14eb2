// Command elasticron shows and, in time, operates Elasticron clusters.
//
//	go run ./cmd/elasticron demo
//
// needs nothing but Go: it runs a cluster of processes on this machine, kills one of them, has another
// join, and checks that nothing is missed and nothing counted twice.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/demo"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitInterrupted = 130 // as shells have it for programs that a Ctrl-C ended
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// run carries out a command line and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	root := newRoot() //nolint:contextcheck // cobra hands the context to the commands
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, demo.ErrInterrupted) && !errors.Is(err, demo.ErrInexact):
		_, _ = fmt.Fprintln(errOut, "elasticron:", err)
		return exitInterrupted
	default:
		_, _ = fmt.Fprintln(errOut, "elasticron:", err)
		return exitFailed
	}
}
