package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

// patience is how long a completion waits for the registry: somebody has pressed a key and looks at the cursor.
const patience = 2 * time.Second

// namesOf lists what could stand for an argument.
type namesOf func(ns *operate.Namespace) []string

// completes has a shell offer names of the registry for the arguments of a command. Whatever goes wrong, it offers
// none: nothing may be written into the line that somebody types.
func completes(cmd *cobra.Command, c *connection, names namesOf) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, begun string) (offered []string, _ cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), patience)
		defer stop()
		c.news = io.Discard // that two registries have a job takes no name away
		err := c.with(ctx, func(at place) error {
			ns, err := operate.ReadNamespace(ctx, at, c.program.now())
			if err != nil {
				return err
			}
			for _, name := range names(ns) {
				if strings.HasPrefix(name, begun) {
					offered = append(offered, name)
				}
			}
			return nil
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

func jobNames(ns *operate.Namespace) []string { return ns.Names() }

// targetNames are those of describe, logs, disable and enable: of all that these lists have, the kind and the name.
func targetNames(lists ...*listing) namesOf {
	return func(ns *operate.Namespace) (all []string) {
		for _, l := range lists {
			for _, r := range l.rows(ns, selection{}) {
				all = append(all, r.name)
			}
		}
		return all
	}
}

// listedNames are those of a list.
func listedNames(l *listing) namesOf {
	return func(ns *operate.Namespace) (all []string) {
		if l.argument == "JOB" {
			return ns.Names()
		}
		for _, r := range l.rows(ns, selection{}) {
			all = append(all, r.own)
		}
		return all
	}
}
