package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newRoot returns the command line. Each command is a function that returns it, so that a test can
// have one of its own.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "elasticron",
		Short:         "Elastic, sharded cron on etcd",
		Version:       version(),
		SilenceUsage:  true, // an error of a command is no wrong use of it
		SilenceErrors: true, // run prints it
	}
	root.AddCommand(newDemo(), newDemoProcess(), newMigrate(), newSeed())
	return root
}

// version returns the version of the module that this program was built from, as Go knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
