package job_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
)

func valid() job.Config { return job.NewConfig("orders", "0 0/5 * * * ?", 3) }

func TestValidateAcceptsWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*job.Config){
		"defaults":             func(*job.Config) {},
		"name with much":       func(c *job.Config) { c.Name = "Bestellungen 作业 (v2.1) @- x" },
		"one item":             func(c *job.Config) { c.ShardingTotalCount = 1 },
		"most items":           func(c *job.Config) { c.ShardingTotalCount = job.MaxShardingTotalCount },
		"parameters":           func(c *job.Config) { c.ShardingItemParameters = " 0 = A , 2=C," },
		"a parameter for each": func(c *job.Config) { c.ShardingItemParameters = "0=A,1=B,2=C" },
		"short jitter":         func(c *job.Config) { c.JitterSeconds = 300 },
		"script":               func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeScript, "/bin/true" },
		"stream":               func(c *job.Config) { c.Type, c.StreamingProcess = job.TypeDataflow, true },
		"dataflow":             func(c *job.Config) { c.Type = job.TypeDataflow },
		"zone":                 func(c *job.Config) { c.TimeZone = "Europe/Berlin" },
		"daylight saving":      func(c *job.Config) { c.DaylightSaving = job.DaylightSavingQuartz },
		"natural":              func(c *job.Config) { c.DaylightSaving = cronexpr.Natural.String() },
		"time difference":      func(c *job.Config) { c.MaxTimeDiffSeconds = 86_400 },
		"any free port":        func(c *job.Config) { c.MonitorPort = 0 },
		"no reconciling":       func(c *job.Config) { c.ReconcileIntervalMinutes = 0 },
		"standard expression":  func(c *job.Config) { c.Cron = "*/5 * * * *" },
		"every":                func(c *job.Config) { c.Cron = "@every 90s" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := valid()
			change(&c)
			require.NoError(t, c.Validate())
			require.NoError(t, c.ValidateAt(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		})
	}
}

func TestValidateNamesFieldValueAndWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		change       func(*job.Config)
		field, value string
		allowed      string
	}{
		{"no name", func(c *job.Config) { c.Name = "" }, "Name", "", "must be a name"},
		{"dot", func(c *job.Config) { c.Name = "." }, "Name", ".", "must be a name"},
		{"dots", func(c *job.Config) { c.Name = ".." }, "Name", "..", "must be a name"},
		{"path", func(c *job.Config) { c.Name = "a/b" }, "Name", "a/b", `must not contain "/"`},
		{"separator", func(c *job.Config) { c.Name = "a@-@b" }, "Name", "a@-@b", `"@-@"`},
		{"half a separator at the end", func(c *job.Config) { c.Name = "a@-" }, "Name", "a@-", `"@-"`},
		{"control", func(c *job.Config) { c.Name = "a\nb" }, "Name", "a\nb", "control characters"},
		{"not UTF-8", func(c *job.Config) { c.Name = "a\xff" }, "Name", "a\xff", "UTF-8"},
		{"class not UTF-8", func(c *job.Config) { c.Class = "\xff" }, "Class", "\xff", "UTF-8"},
		{"type", func(c *job.Config) { c.Type = "simple" }, "Type", "simple", "[SIMPLE DATAFLOW SCRIPT]"},
		{"no type", func(c *job.Config) { c.Type = "" }, "Type", "", "[SIMPLE DATAFLOW SCRIPT]"},
		{"cron", func(c *job.Config) { c.Cron = "0 0 25 * * ?" }, "Cron", "0 0 25 * * ?", "hour"},
		{"no cron", func(c *job.Config) { c.Cron = "" }, "Cron", "", "must be a cron expression"},
		{"zone", func(c *job.Config) { c.TimeZone = "Mars/Base" }, "TimeZone", "Mars/Base", "IANA name"},
		{"the host's zone", func(c *job.Config) { c.TimeZone = "Local" }, "TimeZone", "Local", "IANA name"},
		{"daylight saving", func(c *job.Config) { c.DaylightSaving = "no" }, "DaylightSaving", "no", "quartz"},
		{"no items", func(c *job.Config) { c.ShardingTotalCount = 0 }, "ShardingTotalCount", "0", "between 1 and 100000"},
		{"too many items", func(c *job.Config) { c.ShardingTotalCount = 100_001 }, "ShardingTotalCount", "100001", "between 1 and 100000"},
		{"parameters", func(c *job.Config) { c.ShardingItemParameters = "0=A,0=B" }, "ShardingItemParameters", "0=A,0=B", "0=Berlin,1=Oslo"},
		{"surplus parameters", func(c *job.Config) { c.ShardingItemParameters = "1=B,3=H" }, "ShardingItemParameters", "1=B,3=H", "item 3 is not"},
		{"failover", func(c *job.Config) { c.Failover, c.MonitorExecution = true, false }, "Failover", "true", "MonitorExecution"},
		{"jitter", func(c *job.Config) { c.JitterSeconds = 301 }, "JitterSeconds", "301", "which is 5m0s"},
		{"jitter of every", func(c *job.Config) { c.Cron, c.JitterSeconds = "@every 7s", 8 }, "JitterSeconds", "8", "which is 7s"},
		{"jitter of a few fires a day", func(c *job.Config) { c.Cron, c.JitterSeconds = "0 0,1 3 * * ?", 61 }, "JitterSeconds", "61", "which is 1m0s"},
		{"jitter of a year to come", func(c *job.Config) { c.Cron, c.JitterSeconds = "0 0 * * * ? 2090", 3_601 }, "JitterSeconds", "3601", "which is 1h0m0s"},
		{"no command", func(c *job.Config) { c.Type = job.TypeScript }, "ScriptCommandLine", "", "must not be empty"},
		{"blank command", func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeScript, " " }, "ScriptCommandLine", " ", "must not be empty"},
		{"command", func(c *job.Config) { c.ScriptCommandLine = "rm" }, "ScriptCommandLine", "rm", "no script job"},
		{"stream", func(c *job.Config) { c.StreamingProcess = true }, "StreamingProcess", "true", "no dataflow job"},
		{"difference", func(c *job.Config) { c.MaxTimeDiffSeconds = -2 }, "MaxTimeDiffSeconds", "-2", "between -1 and 86400"},
		{"port", func(c *job.Config) { c.MonitorPort = 65_536 }, "MonitorPort", "65536", "between -1 and 65535"},
		{"reconcile", func(c *job.Config) { c.ReconcileIntervalMinutes = -2 }, "ReconcileIntervalMinutes", "-2", "between -1 and 525600"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := valid()
			test.change(&c)
			err := c.Validate()
			require.ErrorIs(t, err, job.ErrInvalidConfig)
			var fault *job.FieldError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, test.field, fault.Field)
			require.Equal(t, test.value, fault.Value)
			require.ErrorContains(t, err, test.field+" ")
			require.ErrorContains(t, err, test.allowed)
			require.Equal(t, err.Error(), c.ValidateAt(time.Now()).Error(), "one fault only, both ways")
		})
	}
}

func TestValidateReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	c := job.Config{TimeZone: "Mars/Base", DaylightSaving: "no", MonitorPort: -2, ShardingItemParameters: "x"}
	var fields []string
	for _, err := range c.Validate().(interface{ Unwrap() []error }).Unwrap() {
		var fault *job.FieldError
		require.ErrorAs(t, err, &fault)
		fields = append(fields, fault.Field)
	}
	require.Equal(t, []string{
		"Name", "Type", "ShardingTotalCount", "ShardingItemParameters", "TimeZone", "DaylightSaving", "Cron", "MonitorPort",
	}, fields)
}

func TestValidateAtRefusesWhatNeverFires(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, cron := range []string{"0 0 0 30 2 ?", "0 0 0 1 1 ? 2025"} {
		c := valid()
		c.Cron = cron
		require.NoError(t, c.Validate())
		err := c.ValidateAt(now)
		require.EqualError(t, err, `Cron "`+cron+`" never fires after 2026-03-01T00:00:00Z`)
		require.ErrorIs(t, err, job.ErrInvalidConfig)
	}
}

func TestFieldErrorKeepsTheCauseAndCutsLongValues(t *testing.T) {
	t.Parallel()
	c := valid()
	c.Cron = strings.Repeat("x", 10_000)
	err := c.Validate()
	var syntax *cronexpr.SyntaxError
	require.ErrorAs(t, err, &syntax)
	fault := &job.FieldError{Field: "Cron", Value: c.Cron, Reason: "is long"}
	require.Less(t, len(fault.Error()), 300)
	require.NoError(t, errors.Unwrap(fault))
}

func TestValidateFaultsOfPolicies(t *testing.T) {
	t.Parallel()
	c := job.NewConfig("orders", "0 0 * * * ?", 1)
	c.FailoverScope, c.FailoverLimit, c.MisfirePolicy, c.MisfireMax, c.MisfireWindowSeconds = "all", -1, "twice", 1_001, -2
	c.TimeoutSeconds, c.Retries, c.RetryBackoffSeconds, c.ClockPolicy = -3, 1_001, 61, "ignore"
	err := c.Validate()
	for _, want := range []string{
		`FailoverScope "all"`, "running, assigned", `FailoverLimit "-1"`, `MisfirePolicy "twice"`, `MisfireMax "1001"`, `MisfireWindowSeconds "-2"`,
		`TimeoutSeconds "-3"`, `Retries "1001"`, `RetryBackoffSeconds "61"`, `ClockPolicy "ignore"`,
		"once, all", "warn, refuse",
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestValidateFaultsOfTimes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, change := range map[string]func(*job.Config){
		`EndTime "2026-03-01T11:00:00Z" must not be before StartTime, 2026-03-01T12:00:00Z`: func(c *job.Config) { c.StartTime, c.EndTime = noon, noon.Add(-time.Hour) },
		`must be in the years 1 to 9999`: func(c *job.Config) { c.EndTime = noon.AddDate(9000, 0, 0) },
		`JitterSeconds "-1"`:             func(c *job.Config) { c.JitterSeconds = -1 },
		`JitterSeconds "86401"`:          func(c *job.Config) { c.JitterSeconds = 86_401 },
		`JitterSeconds "5" must be 0`:    func(c *job.Config) { c.Cron, c.JitterSeconds = "@delay 1m", 5 },
		`OffsetSeconds "-1"`:             func(c *job.Config) { c.Cron, c.OffsetSeconds = "@every 1m", -1 },
		`OffsetSeconds "7" must be 0`:    func(c *job.Config) { c.OffsetSeconds = 7 },
		`MonitorExecution "false"`:       func(c *job.Config) { c.Cron, c.MonitorExecution = "@delay 1m", false },
	} {
		c := job.NewConfig("orders", "0 0 * * * ?", 1)
		change(&c)
		require.ErrorContains(t, c.Validate(), want)
	}
}

func TestJobsThatNeverFireAgain(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, cron := range []string{"0 0 * * * ?", "@delay 1m"} {
		c := job.NewConfig("orders", cron, 1)
		c.EndTime = noon
		require.NoError(t, c.ValidateAt(noon.Add(-time.Minute)))
		require.ErrorContains(t, c.ValidateAt(noon), "never fires after 2026-03-01T12:00:00Z")
	}
	require.NoError(t, job.NewConfig("orders", cronexpr.Triggered, 1).ValidateAt(noon), "somebody may trigger it")
}
