package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate/jobfile"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

func newExport(p *program) *cobra.Command {
	match := ""
	cmd := &cobra.Command{
		Use:   "export [JOB]...",
		Short: "Write jobs as a file that seed and diff read",
		Long: `Export writes what people decided about jobs as YAML: their configurations, and which
servers and items are disabled. Members of a configuration that have their defaults are left
out. elasticron seed puts the file into an empty namespace so that every configuration has
the same bytes as before. A job that elasticron move has stopped on its way to another registry is
disabled in the file only if it was before. One that elasticron migrate has stopped stays disabled
in it, as another registry may run it, and its servers are as they were before. Nothing is hidden:
the file holds what is stored.

Jobs whose configuration cannot be used are left out and named, and the exit status is 4. Those whose
home is another registry by now are in the export of that one. Without
names, through a server, jobs are left out that you may not administer, and those that you may not
see; the exit status is 4 then, too. Of the former it says how many, of the latter that jobs may be
missing. If a job is named that you may not administer, nothing is exported; the exit status is 3.`,
		Example: `  elasticron export > all.yaml
  elasticron export orders mail
  elasticron export --match 'night*'`,
	}
	conn := reading(p, cmd, func(cmd *cobra.Command, args []string, at place) error {
		if _, err := path.Match(match, ""); err != nil {
			return misuse("--match is %q, want a pattern of letters, *, ? and [a-z]", match)
		}
		args = bareJobs(args)
		wanted := func(job string) bool {
			return (len(args) == 0 || slices.Contains(args, job)) && selection{match: match}.matches(job)
		}
		rights, err := rightsAt(cmd.Context(), at)
		if err != nil {
			return err
		}
		if err := rights.administers(args...); err != nil {
			return err
		}
		nodes, partial, err := listAdministered(cmd.Context(), at, rights, wanted)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			partial = errors.Join(partial, rights.mayMiss(match))
		}
		found := make(map[string]bool)
		nodes = slices.DeleteFunc(nodes, func(n registry.Node) bool {
			name, known := jobtree.Parse(n.Path)
			found[name.Job] = true
			return !known || !wanted(name.Job)
		})
		for _, name := range args {
			if !found[name] {
				return errNoJob(name)
			}
			i := configIn(nodes, name)
			if i < 0 {
				continue
			}
			if e, elsewhere := jobtree.DecodeElsewhere(nodes[i]); elsewhere && !e.Leaving() {
				return movedJob(cmd.Context(), stored(at), name)
			}
		}
		text, faults := seed.Export(nodes)
		switch none := errors.New("no job to export"); {
		case len(text) > 0 || faults != nil:
		case partial != nil: // all are left out
			return statusError{exitSome, errors.Join(none, partial)}
		default:
			return none
		}
		if _, err := cmd.OutOrStdout().Write(text); err != nil {
			return err
		}
		if err := errors.Join(faults, partial); err != nil {
			return statusError{exitSome, err}
		}
		return nil
	})
	completes(cmd, conn, jobNames)
	cmd.Flags().StringVar(&match, "match", "", "export jobs whose name matches, such as 'orders-*'")
	return cmd
}

// listAdministered lists those of the wanted jobs that may be administered. partial says of how many others it does not.
func listAdministered(ctx context.Context, at place, rights *rights, wanted func(job string) bool) (nodes []registry.Node, partial, err error) {
	leftOut := make(map[string]bool)
	nodes, _, err = listStored(ctx, at, func(job string) bool {
		if wanted(job) && !rights.may(access.Administer, job) {
			leftOut[job] = true
		}
		return wanted(job) && !leftOut[job]
	})
	return nodes, lacksRights(leftOut, rights), err
}

// mayMiss says that jobs may be missing in a list of those whose names match a pattern, if some may not be read.
func (r *rights) mayMiss(match string) error {
	if r.seesAll(match) {
		return nil
	}
	return fmt.Errorf("jobs may be missing: you see some jobs of namespace %s only", r.namespace)
}

// lacksRights says that jobs are left out which may not be administered.
func lacksRights(jobs map[string]bool, of *rights) error {
	switch names := slices.Sorted(maps.Keys(jobs)); len(names) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("1 job is left out: you may not administer %s of namespace %s", names[0], of.namespace)
	default:
		return fmt.Errorf("%d jobs are left out: you may not administer them, such as %s of namespace %s", len(names), names[0], of.namespace)
	}
}

func newDiff(p *program) *cobra.Command {
	fileName, all, strict, secrets := "", false, false, false
	cmd := &cobra.Command{
		Use:   "diff -f FILE",
		Short: "Show how a file of jobs differs from what is stored",
		Long: `Diff compares a file, as export writes it, with a namespace, and writes nothing there. A line
begins with + for what the namespace does not have, and with ~ for what differs in it. What the
file does not mention is not compared, unless --all is given: then a line begins with - for what an
export of the whole namespace would have and the file has not, such as a job, or that an item is
disabled. Jobs that an export would leave out are left out and named, and the exit status is 4, or
1 if something differs and --exit-code is given.

Through a server, it needs the right to administer each job of the file; else nothing is compared,
and the exit status is 3.`,
		Example: `  elasticron diff -f jobs.yaml

  # tell a script whether anything has changed since
  elasticron export > yesterday.yaml
  elasticron diff -f yesterday.yaml --all --exit-code`,
		Args: cobra.NoArgs,
	}
	reading(p, cmd, func(cmd *cobra.Command, _ []string, at place) error {
		file, err := readJobs(fileName, cmd.InOrStdin())
		if err != nil {
			return err
		}
		names := namesIn(file)
		rights, err := rightsAt(cmd.Context(), at)
		if err != nil {
			return err
		}
		if err := rights.administers(names...); err != nil { // or it would be taken for a job that is not there
			return err
		}
		var nodes []registry.Node
		var leftOut error
		if all {
			nodes, leftOut, err = listAdministered(cmd.Context(), at, rights, func(string) bool { return true })
			leftOut = errors.Join(leftOut, rights.mayMiss(""))
		} else {
			nodes, _, err = listStored(cmd.Context(), at, func(job string) bool { return slices.Contains(names, job) })
		}
		if err != nil {
			return err
		}
		differences, surplus := jobfile.Differences, jobfile.Surplus
		if secrets {
			differences, surplus = jobfile.DifferencesWithSecrets, jobfile.SurplusWithSecrets
		}
		lines := differences(file, nodes)
		if all {
			more, faults := surplus(file, nodes)
			lines, leftOut = append(lines, more...), errors.Join(faults, leftOut)
		}
		for _, line := range lines {
			if _, err := io.WriteString(cmd.OutOrStdout(), printable(line)+"\n"); err != nil {
				return err
			}
		}
		switch {
		case strict && len(lines) == 1:
			return errors.Join(errors.New("1 difference"), leftOut)
		case strict && len(lines) > 0:
			return errors.Join(fmt.Errorf("%d differences", len(lines)), leftOut)
		case leftOut != nil:
			return statusError{exitSome, leftOut}
		}
		return nil
	})
	fileFlag(cmd, &fileName)
	secretsFlag(cmd.Flags(), &secrets)
	cmd.Flags().BoolVar(&all, "all", false, "show also what the file does not mention, such as a job that it does not have")
	cmd.Flags().BoolVar(&strict, "exit-code", false, "end with status 1 if anything differs")
	return cmd
}

// namesIn returns the names of the jobs of a file, in its order.
func namesIn(file seed.File) (names []string) {
	for _, job := range jobfile.Jobs(file) {
		names = append(names, job.Name)
	}
	return names
}
