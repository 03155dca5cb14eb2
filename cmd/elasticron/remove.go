package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func newRemove(p *program) *cobra.Command {
	match, to := "", ""
	cmd := &cobra.Command{
		Use:   "remove [JOB]...",
		Short: "Delete jobs with all that is known of them",
		Long: `Remove disables a job, waits until nothing of it runs, and deletes it. It is refused while
instances take part, unless --force is given. If it is interrupted, the job stays disabled:
repeat it, or enable the job. A process that declares the job in code creates it again when it
starts next. It asks, unless --yes is given.

Before anything is removed, the jobs are written to a file that only you can read, as elasticron
export would write them, and the output says where: elasticron apply -f stores them again. With a
job goes all else that the registry knows of it, such as its last results, checkpoints and operations.`,
		Example: `  elasticron remove orders --force --dry-run
  elasticron remove stopped --yes`,
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		jobs, err := v.jobsOf(args, match)
		if err != nil {
			return err
		}
		if to == keepInOutput && v.output != formatTable {
			return misuse("--export is -, and -o is %s: want one of them, as both write to the output", v.output)
		}
		k := &keeping{v: v, to: to, jobs: jobs}
		return errors.Join(v.ofJobs(jobs, match, k.removes(v.op.Remove)), k.end())
	})
	v.asks = true
	matchFlag(cmd, &match)
	cmd.Flags().StringVar(&to, "export", "", "new file for the jobs, - for the output, or none (default: a file in the folder removed, beside that of the contexts)")
	return cmd
}
