package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newContext(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "context",
		Short: "Keep clusters under names, and choose the one that commands use",
		Long: `Context keeps the addresses of clusters, their namespaces and how to prove who you are, so
that commands need not be told each time. It writes a file: that of $` + contextsFileVariable + `, else
$XDG_CONFIG_HOME/elasticron/contexts.yaml, else ~/.config/elasticron/contexts.yaml.

A command uses the context of --context, else that of $` + contextVariable + `, else the chosen
one. If it is given --etcd, --zookeeper or --server, it uses no context at all.

The file holds no passwords and no tokens. They are read from $` + passwordVariable + ` (or
the file that $` + passwordVariable + `_FILE names) and $` + tokenVariable + `, else from the files that the context names.`,
		Example: `  elasticron context set prod --etcd https://etcd1:2379,https://etcd2:2379 --namespace shop
  elasticron context set legacy --zookeeper zk1:2181 --namespace shop
  elasticron context use prod
  elasticron context list
  elasticron get jobs --context legacy`,
	}
	return parent(cmd, newContextSet(p), newContextUse(p), newContextList(p), newContextShow(p), newContextRemove(p))
}

func newContextSet(p *program) *cobra.Command {
	given := cluster{}
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Create a context, or change what flags say of one",
		Long: `Set creates a context or changes one: what flags do not mention stays as it is. An empty
value, as in --user "", takes a setting away. The first context is also chosen.

A context may have several registries over which jobs are spread: --registries names the context of
each. Commands then show all of them as one, and go to the registry where a job is. One that is away
is named, and the exit status is 1. --directory is the registry that decides where new jobs are, the
same as in the processes.`,
		Example: `  elasticron context set prod --etcd https://etcd1:2379 --namespace shop --ca /etc/elasticron/ca.pem
  elasticron context set prod --user ops --password-file /run/secrets/elasticron
  elasticron context set console --server https://cron.example.com -n shop --token-file /run/secrets/token
  elasticron context set all --registries one=prod,two=prod2 --directory one`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	given.flags(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := given.absolute(); err != nil {
			return err
		}
		name := args[0]
		if strings.TrimSpace(name) != name || name == "" {
			return misuse("the name of a context is %q, must have letters and no blanks around them", name)
		}
		return p.changeContexts(func(all *contexts) error {
			c := all.Contexts[name]
			c.take(given, flags.Changed)
			if flags.Changed("etcd") && flags.Changed("zookeeper") {
				return misuse("--etcd and --zookeeper are given: want one of them")
			}
			if err := c.check(); err != nil {
				return usageError{fmt.Errorf("context %s: %w", name, err)}
			}
			if all.Contexts == nil {
				all.Contexts = make(map[string]cluster)
			}
			all.Contexts[name] = c
			all.Current = cmp.Or(all.Current, name)
			return nil
		})
	}
	return cmd
}

// changeContexts changes the file of contexts. Of two processes that do, the second one changes what the first has written.
func (p *program) changeContexts(change func(*contexts) error) error {
	unlock, err := p.lockContexts()
	if err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	defer unlock()
	all, err := p.readContexts()
	if err != nil {
		return err
	}
	if err := change(&all); err != nil {
		return err
	}
	return p.writeContexts(all)
}

func newContextUse(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "use NAME",
		Short:   "Choose the context that commands use",
		Example: `  elasticron context use prod`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return p.changeContexts(func(all *contexts) error {
				_, err := all.get(args[0])
				all.Current = args[0]
				return err
			})
		},
	}
}

func newContextRemove(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Forget a context; the cluster is not touched",
		Example: `  elasticron context remove legacy`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return p.changeContexts(func(all *contexts) error {
				_, err := all.get(args[0])
				delete(all.Contexts, args[0])
				if all.Current == args[0] {
					all.Current = ""
				}
				return err
			})
		},
	}
}

func newContextList(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the contexts; a star marks the one that commands use",
		Example: `  elasticron context list`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := p.readContexts()
			if err != nil {
				return err
			}
			inUse := cmp.Or(p.env(contextVariable), all.Current)
			rows := [][]string{{"", "NAME", "REGISTRY", "NAMESPACE", "USER"}}
			for _, name := range all.names() {
				c, mark := all.Contexts[name], ""
				if name == inUse {
					mark = "*"
				}
				kind := "etcd "
				switch {
				case len(c.ZooKeeper) > 0:
					kind = "zookeeper "
				case c.Server != "":
					kind = "server "
				}
				at := strings.Join(slices.Concat(c.Etcd, c.ZooKeeper), ",") + c.Server
				if len(c.Registries) > 0 {
					kind, at = "several ", strings.Join(slices.Sorted(maps.Keys(c.Registries)), ",")
				}
				rows = append(rows, []string{mark, name, kind + at, c.Namespace, c.User})
			}
			_, err = io.WriteString(cmd.OutOrStdout(), tableOf(rows))
			return err
		},
	}
}

func newContextShow(p *program) *cobra.Command {
	var output format
	cmd := &cobra.Command{
		Use:     "show [NAME]",
		Short:   "Show a context; without a name, the one that commands use",
		Example: `  elasticron context show`,
		Args:    cobra.MaximumNArgs(1),
	}
	outputFlag(cmd.Flags(), &output, formatYAML, formatJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := p.readContexts()
		if err != nil {
			return err
		}
		name := cmp.Or(p.env(contextVariable), all.Current)
		if len(args) > 0 {
			name = args[0]
		}
		if name == "" {
			return fmt.Errorf("no context is chosen; known are: %s", orNone(all.names()))
		}
		c, err := all.get(name)
		if err != nil {
			return err
		}
		return format(cmp.Or(string(output), string(formatYAML))).write(cmd.OutOrStdout(), struct {
			Name string `json:"name"`
			cluster
		}{name, c})
	}
	return cmd
}
