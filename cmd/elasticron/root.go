package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot returns the command line. Each command is a function that returns it, so that a test can
// have one of its own.
func newRoot(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "elasticron",
		Short: "Elastic, sharded cron on etcd",
		Long: `Elasticron shows and operates the jobs of a cluster, runs workers for script and HTTP jobs,
and serves the console.

The commands that need a cluster find it by their flags or in a context, which keeps them
under a name: see elasticron context --help. They work on etcd and on ZooKeeper, and need
no running scheduler.

Exit statuses: 0 done; 1 error; 2 wrong command line; 3 refused, also where a right is missing;
4 done for some, failed for others; 5 the time to wait was over.`,
		Version:       version(),
		SilenceUsage:  true, // an error of a command is no wrong use of it
		SilenceErrors: true, // run prints it
	}
	root.AddGroup(&cobra.Group{ID: groupRead, Title: "See:"}, &cobra.Group{ID: groupOperate, Title: "Operate:"},
		&cobra.Group{ID: groupMove, Title: "Copy and fill:"}, &cobra.Group{ID: groupHere, Title: "Here:"})
	for group, commands := range map[string][]*cobra.Command{
		groupRead: {newGet(p), newDescribe(p), newLogs(p), newNext(p), newDump(p), newAudit(p)},
		groupOperate: {
			newTrigger(p), newBackfill(p), newDisable(p), newEnable(p), newShutdown(p), newGiveUp(p), newTidy(p), newReshard(p),
			newCreate(p), newEdit(p), newApply(p), newRollback(p), newRemove(p),
		},
		groupMove: {newExport(p), newDiff(p), newMigrate(p), newMove(p), newSeed(p)},
		groupHere: {newServer(p), newWorker(p), newContext(p), newCron(p), newDemo()},
	} {
		for _, c := range commands {
			c.GroupID = group
		}
		root.AddCommand(commands...)
	}
	root.AddCommand(newDemoProcess(), newMan(), newReference(), newVersion())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	countAsMisuse(root)
	return root
}

// strict has cobra's own commands refuse what is not there: they say what there is, as if that had been asked. The output of
// the root must be set.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, left, err := root.Find(args); err != nil || len(left) > 0 && (found == root || found.HasSubCommands()) {
					return misuse("there is no command %q", strings.Join(args, " "))
				}
				return nil
			}
		case "completion":
			c.Args = cobra.ArbitraryArgs
			needsOneOf(c, c.Commands())
			countAsMisuse(c)
		}
	}
}

// The groups of commands in the help.
const (
	groupRead    = "read"
	groupOperate = "operate"
	groupMove    = "move"
	groupHere    = "here"
)

// agent names this program, for what is written down of operations.
func agent() string { return "elasticron " + version() }

// newVersion is elasticron --version for those who expect a command.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:    "version",
		Short:  "Print the version, as --version does",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root := cmd.Root()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s version %s\n", root.Name(), root.Version)
			return err
		},
	}
}

// version returns the version of the module that this program was built from, as Go knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
