package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/cronexpr/words"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
)

// mostFires bounds how many fires a command lists.
const mostFires = 10_000

func newNext(p *program) *cobra.Command {
	count, output := 5, formatTable
	cmd := &cobra.Command{
		Use:   "next JOB",
		Short: "List the next fires of a job",
		Long: `Next lists when a job fires next, by the configuration that is stored: in the job's time zone,
with its changes of the clock, and within its start and end. A job that is disabled is listed
as if it were not, and a line says so. In JSON, its jitter is a number of nanoseconds.`,
		Example: `  elasticron next orders
  elasticron next orders -c 20 -o json`,
		Args: cobra.ExactArgs(1),
	}
	conn := reading(p, cmd, func(cmd *cobra.Command, args []string, at place) error {
		if err := checkCount(count); err != nil {
			return err
		}
		job := bare("job", args[0])
		ns, err := operate.ReadJob(cmd.Context(), at, job, p.now())
		if err != nil {
			return err
		}
		st, found := ns.State(job)
		if !found {
			return missing(cmd.Context(), at, job)
		}
		c := st.Config
		if c.Err != nil {
			return c.Err
		}
		if _, faulty := jobtree.CheckConfig(job, c.Value); faulty != nil {
			return faulty
		}
		schedule, err := c.Value.Schedule()
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		f := firesOf(c.Value.Cron, schedule, p.now(), count)
		f.Jitter, f.Disabled = c.Value.Jitter, c.Value.Disabled
		return f.show(out, output, p.now())
	})
	cmd.Flags().IntVarP(&count, "count", "c", count, "how many fires")
	outputFlag(cmd.Flags(), &output, formatJSON, formatYAML)
	completes(cmd, conn, jobNames)
	return cmd
}

func checkCount(count int) error {
	if count < 1 || count > mostFires {
		return misuse("--count is %d, want 1 to %d", count, mostFires)
	}
	return nil
}

// fires is a schedule, in words and times.
type fires struct {
	Cron  string      `json:"cron"`
	Words string      `json:"words"`
	Fires []time.Time `json:"fires"`
	// Jitter is how much later than its fire a run may begin.
	Jitter time.Duration `json:"jitter,omitempty"`
	// Disabled tells that nothing begins for these fires while the job is as it is.
	Disabled bool `json:"disabled,omitempty"`
}

func firesOf(expr string, s cronexpr.Schedule, after time.Time, count int) fires {
	f := fires{Cron: expr, Fires: []time.Time{}}
	f.Words, _ = words.Describe(expr) // it was parsed before
	for fire := range cronexpr.Upcoming(s, after) {
		f.Fires = append(f.Fires, fire)
		if len(f.Fires) == count {
			break
		}
	}
	return f
}

// untilFire is how long it is until a fire, or was since.
func untilFire(fire, now time.Time) string {
	if fire.Before(now) {
		return whole(now.Sub(fire)) + " ago"
	}
	return whole(fire.Sub(now))
}

func (f fires) show(out io.Writer, output format, now time.Time) error {
	if output != formatTable {
		return output.write(out, f)
	}
	text := f.Words + "\n"
	if f.Jitter > 0 {
		text += fmt.Sprintf("Each run begins up to %s after its fire.\n", f.Jitter)
	}
	if f.Disabled {
		text += "The job is disabled: nothing begins for these fires until it is enabled.\n"
	}
	if len(f.Fires) == 0 {
		_, err := io.WriteString(out, text+"No fires by the clock from now on.\n")
		return err
	}
	rows := [][]string{{"FIRE", "UTC", "IN"}}
	for _, fire := range f.Fires {
		rows = append(rows, []string{fire.Format("Mon 2006-01-02 15:04:05 MST"), fire.UTC().Format(time.RFC3339Nano), untilFire(fire, now)})
	}
	_, err := io.WriteString(out, text+tableOf(rows))
	return err
}
