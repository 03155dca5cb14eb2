package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/timezone"
)

func newCron(p *program) *cobra.Command {
	count, output, zone, daylight, from := 5, formatTable, "", "", ""
	cmd := &cobra.Command{
		Use:   "cron EXPRESSION",
		Short: "Explain a cron expression in words, and list its fires",
		Long: `Cron says in words what an expression means, and when it fires. Five fields are read as Unix
cron (Sunday is 0), six or seven as Quartz (seconds first, Sunday is 1); @daily and its kin,
@every 90s, @delay 10s and @triggered are understood, too. It reads no registry.

It refuses what a job would refuse, and names the field.`,
		Example: `  elasticron cron '0 0/5 * * * ?'
  elasticron cron '30 2 * * 1-5' --zone Europe/Berlin --count 3
  elasticron cron '0 30 2 * * ?' --zone Europe/Berlin --from 2026-03-28T00:00:00Z`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkCount(count); err != nil {
				return err
			}
			location, err := timezone.Load(zone)
			if err != nil {
				return misuse("--zone is %q, want %s", zone, timezone.Wanted)
			}
			rule, err := cronexpr.ParseDaylightSaving(daylight)
			if err != nil {
				return misuse("--daylight-saving is %q, want natural or quartz", daylight)
			}
			after := p.now()
			if from != "" {
				if after, err = time.Parse(time.RFC3339, from); err != nil {
					return misuse("--from is %q, want a time such as 2026-03-28T00:00:00Z", from)
				}
			}
			expr := strings.Join(args, " ")
			s, err := cronexpr.Parse(expr, cronexpr.WithLocation(location), cronexpr.WithDaylightSaving(rule))
			if err != nil {
				return usageError{err}
			}
			_, delayed := cronexpr.DelayOf(s)
			if !delayed && !cronexpr.IsTriggered(s) && cronexpr.NeverAfter(s, after) {
				return fmt.Errorf("%q never fires after %s", expr, after.UTC().Format(time.RFC3339))
			}
			return firesOf(s.String(), s, after, count).show(cmd.OutOrStdout(), output, p.now())
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&count, "count", "c", count, "how many fires")
	flags.StringVar(&zone, "zone", "", "time zone in which the expression is read, such as Europe/Berlin (default: UTC)")
	flags.StringVar(&daylight, "daylight-saving", "", "what happens when the clock is changed: natural or quartz (default: natural)")
	flags.StringVar(&from, "from", "", "list the fires after this time, such as 2026-03-28T00:00:00Z (default: now)")
	outputFlag(flags, &output, formatJSON, formatYAML)
	return cmd
}
