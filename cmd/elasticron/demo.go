package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/demo"
)

// consoleAddress is where consoles are by default.
const consoleAddress = "127.0.0.1:8080"

// demoProcess is the hidden command by which the demo starts this program again.
const demoProcess = "demo-worker"

func newDemo() *cobra.Command {
	opts := demo.Defaults()
	verbose := false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a cluster at work on this machine: needs nothing but Go",
		Long: `Demo starts an etcd server and several processes that share a job of several items.
In every round each item reads its share of the files of the Go toolchain's own sources.
One process is killed with SIGKILL, and another joins. You see who leads and who holds
which item, and that every round counts every file exactly once.

It ends by itself after about 20 seconds, with exit status 0, or 1 if a file was missed or
counted twice. With --keep it goes on until Ctrl-C; kill processes as you like meanwhile.
With --console --keep you see all of it in a browser, live.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && cmd.Flags().Changed("console") { // the value of a flag that may stand alone
				return misuse("%q stands behind a blank: want --console=%s", args[0], args[0])
			}
			return cobra.NoArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program, to start it again: %w", err)
			}
			opts.Command = []string{self, demoProcess}
			opts.Out, opts.Colour = cmd.OutOrStdout(), colourful(cmd.OutOrStdout())
			if verbose {
				opts.Log = os.Stderr
			}
			outliveReaders()
			ctx, restore := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer restore()
			context.AfterFunc(ctx, restore) // a second Ctrl-C ends the program at once
			err = demo.Run(ctx, opts)
			if errors.Is(err, demo.ErrInvalidOption) {
				return usageError{err}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.Dir, "dir", "", "count the files of this folder (default: the sources of the Go toolchain)")
	flags.StringSliceVar(&opts.Endpoints, "etcd", nil, "use this etcd cluster, URLs separated by commas (default: a server of the demo's own)")
	flags.IntVar(&opts.Items, "items", opts.Items, "sharding total count of the job")
	flags.IntVar(&opts.Processes, "workers", opts.Processes, "how many processes share the job at first")
	flags.DurationVar(&opts.Every, "every", 0, "time between rounds, in whole seconds (default: 1s, or more if the tree is large)")
	flags.IntVar(&opts.Rounds, "rounds", opts.Rounds, "show at least this many rounds (default: those of about 20s)")
	flags.StringVar(&opts.Console, "console", "", "serve the console over the demo's cluster, at this address or else at "+consoleAddress)
	flags.Lookup("console").NoOptDefVal = consoleAddress
	flags.BoolVar(&opts.Keep, "keep", false, "go on until Ctrl-C")
	flags.BoolVar(&verbose, "verbose", false, "show the logs of the processes")
	return cmd
}

// newDemoProcess is one process of the demo. It gets its settings on standard input.
func newDemoProcess() *cobra.Command {
	return &cobra.Command{
		Use:    demoProcess,
		Short:  "Be one process of the demo",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A Ctrl-C on a terminal reaches every process of the demo. The parent decides what it means.
			signal.Ignore(os.Interrupt)
			outliveReaders()
			ctx, restore := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
			defer restore()
			return demo.Work(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}
