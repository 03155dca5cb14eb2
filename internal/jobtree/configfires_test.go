package jobtree_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// What never fires is a fault, what has fired for the last time may be meant, and what stands already is neither.
func TestTimesThatAreOver(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	of := func(cron string, end time.Time) job.Config {
		return job.Config{Name: "orders", Cron: cron, ShardingTotalCount: 1, EndTime: end}
	}
	for name, test := range map[string]struct {
		cfg         job.Config
		over, never string
	}{
		"goes on":              {of("0 0 * * * ?", now.Add(time.Hour)), "", ""},
		"only by hand":         {of("@triggered", time.Time{}), "", ""},
		"a year that is over":  {of("0 0 0 1 1 ? 1999", time.Time{}), `cron is "0 0 0 1 1 ? 1999", never fires after 2026-01-02T03:04:05Z`, ""},
		"an end that has come": {of("0 0 * * * ?", now), `endTime is "2026-01-02T03:04:05Z", is over, so the job never fires after`, ""},
		"a delay that ended":   {of("@delay 5s", now), "endTime is", ""},
		"no such day":          {of("0 0 0 30 2 ?", time.Time{}), "", `cron is "0 0 0 30 2 ?", never fires after`},
		"not allowed":          {of("0 61 0 30 2 ?", time.Time{}), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over, never := jobtree.CheckFires(nil, test.cfg, now)
			if test.over == "" {
				require.NoError(t, over)
			} else {
				require.ErrorContains(t, over, test.over)
			}
			if test.never == "" {
				require.NoError(t, never)
			} else {
				require.ErrorContains(t, never, test.never)
			}
			stored := test.cfg
			stored.Description = "before"
			over, never = jobtree.CheckFires(&stored, test.cfg, now)
			require.NoError(t, over)
			require.NoError(t, never)
		})
	}
}
