package job_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

func valid() job.Config { return plain() }

func TestValidateAcceptsWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*job.Config){
		"defaults":             func(*job.Config) {},
		"name with much":       func(c *job.Config) { c.Name = "Bestellungen 作业 (v2.1) @- x" },
		"one item":             func(c *job.Config) { c.ShardingTotalCount = 1 },
		"most items":           func(c *job.Config) { c.ShardingTotalCount = job.MaxShardingTotalCount },
		"parameters":           func(c *job.Config) { c.ShardingItemParameters = " 0 = A , 2=C," },
		"a parameter for each": func(c *job.Config) { c.ShardingItemParameters = "0=A,1=B,2=C" },
		"short jitter":         func(c *job.Config) { c.Jitter = 300 * time.Second },
		"script":               func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeScript, "/bin/true" },
		"stream":               func(c *job.Config) { c.Type, c.StreamingProcess = job.TypeDataflow, true },
		"dataflow":             func(c *job.Config) { c.Type = job.TypeDataflow },
		"zone":                 func(c *job.Config) { c.TimeZone = "Europe/Berlin" },
		"daylight saving":      func(c *job.Config) { c.DaylightSaving = job.DaylightSavingQuartz },
		"natural":              func(c *job.Config) { c.DaylightSaving = "natural" },
		"time difference":      func(c *job.Config) { c.MaxTimeDiff = 24 * time.Hour },
		"any free port":        func(c *job.Config) { c.Java.MonitorPort = -1 },
		"no difference":        func(c *job.Config) { c.MaxTimeDiff = time.Nanosecond },
		"no reconciling":       func(c *job.Config) { c.ReconcileInterval = -1 },
		"never reconciling":    func(c *job.Config) { c.ReconcileInterval = -time.Hour },
		"no limit":             func(c *job.Config) { c.FailoverLimit = -1 },
		"no pause":             func(c *job.Config) { c.RetryBackoff = -1 },
		"skip":                 func(c *job.Config) { c.Misfire = job.MisfireSkip },
		"half a minute":        func(c *job.Config) { c.ReconcileInterval = 30 * time.Second },
		"half a second":        func(c *job.Config) { c.Timeout = 500 * time.Millisecond },
		"short pause":          func(c *job.Config) { c.RetryBackoff = 500 * time.Millisecond },
		"small difference":     func(c *job.Config) { c.MaxTimeDiff = 1500 * time.Millisecond },
		"shorter jitter":       func(c *job.Config) { c.Jitter = 500 * time.Millisecond },
		"standard expression":  func(c *job.Config) { c.Cron = "*/5 * * * *" },
		"every":                func(c *job.Config) { c.Cron = "@every 90s" },
		"jitter of one fire":   func(c *job.Config) { c.Cron, c.Jitter = "0 0 0 1 1 ? 2090", 5*time.Second },
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
		{"item parameters not UTF-8", func(c *job.Config) { c.ShardingItemParameters = "0=\xff" }, "ShardingItemParameters", "0=\xff", "UTF-8"},
		{"parameter not UTF-8", func(c *job.Config) { c.JobParameter = "\xff" }, "JobParameter", "\xff", "UTF-8"},
		{"description not UTF-8", func(c *job.Config) { c.Description = "\xff" }, "Description", "\xff", "UTF-8"},
		{"error handler not UTF-8", func(c *job.Config) { c.ErrorHandler = "\xff" }, "ErrorHandler", "\xff", "UTF-8"},
		{"executor not UTF-8", func(c *job.Config) { c.ExecutorServiceHandler = "\xff" }, "ExecutorServiceHandler", "\xff", "UTF-8"},
		{"command not UTF-8", func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeScript, "\xff" }, "ScriptCommandLine", "\xff", "UTF-8"},
		{"strategy not UTF-8", func(c *job.Config) { c.ShardingStrategy = "\xff" }, "ShardingStrategy", "\xff", "UTF-8"},
		{"type", func(c *job.Config) { c.Type = "simple" }, "Type", "simple", "[SIMPLE DATAFLOW SCRIPT]"},
		{"cron", func(c *job.Config) { c.Cron = "0 0 25 * * ?" }, "Cron", "0 0 25 * * ?", "hour"},
		{"no cron", func(c *job.Config) { c.Cron = "" }, "Cron", "", "must be a cron expression"},
		{"zone", func(c *job.Config) { c.TimeZone = "Mars/Base" }, "TimeZone", "Mars/Base", "IANA name"},
		{"what a host calls its zone", func(c *job.Config) { c.TimeZone = "localtime" }, "TimeZone", "localtime", "IANA name"},
		{"the host's zone", func(c *job.Config) { c.TimeZone = "Local" }, "TimeZone", "Local", "IANA name"},
		{"daylight saving", func(c *job.Config) { c.DaylightSaving = "no" }, "DaylightSaving", "no", "quartz"},
		{"no items", func(c *job.Config) { c.ShardingTotalCount = 0 }, "ShardingTotalCount", "0", "between 1 and 100000"},
		{"too many items", func(c *job.Config) { c.ShardingTotalCount = 100_001 }, "ShardingTotalCount", "100001", "between 1 and 100000"},
		{"parameters", func(c *job.Config) { c.ShardingItemParameters = "0=A,0=B" }, "ShardingItemParameters", "0=A,0=B", "0=Berlin,1=Oslo"},
		{"surplus parameters", func(c *job.Config) { c.ShardingItemParameters = "1=B,3=H" }, "ShardingItemParameters", "1=B,3=H", "item 3 is not"},
		{"failover", func(c *job.Config) { c.Failover, c.Unmonitored = true, true }, "Failover", "true", "unmonitored"},
		{"jitter", func(c *job.Config) { c.Jitter = 301 * time.Second }, "Jitter", "5m1s", "which is 5m0s"},
		{"jitter of every", func(c *job.Config) { c.Cron, c.Jitter = "@every 7s", 8*time.Second }, "Jitter", "8s", "which is 7s"},
		{"jitter of a few fires a day", func(c *job.Config) { c.Cron, c.Jitter = "0 0,1 3 * * ?", 61*time.Second }, "Jitter", "1m1s", "which is 1m0s"},
		{"jitter of a year to come", func(c *job.Config) { c.Cron, c.Jitter = "0 0 * * * ? 2090", 3_601*time.Second }, "Jitter", "1h0m1s", "which is 1h0m0s"},
		{"jitter of fires further on", func(c *job.Config) { c.Cron, c.Jitter = "0 0,58,59 3 * * ?", 61*time.Second }, "Jitter", "1m1s", "which is 1m0s"},
		{"jitter at a clock change", func(c *job.Config) {
			c.Cron, c.TimeZone, c.Jitter = "0 0 1/2 * * ?", "Australia/Sydney", 61*time.Minute
		}, "Jitter", "1h1m0s", "which is 1h0m0s when the clock is changed, as on 2024-10-06"},
		{"jitter at half an hour's change", func(c *job.Config) {
			c.Cron, c.TimeZone, c.Jitter = "0 0 * * * ?", "Australia/Lord_Howe", 31*time.Minute
		}, "Jitter", "31m0s", "which is 30m0s when the clock is changed, as on 2024-10-06"},
		{"jitter at Quartz' change", func(c *job.Config) {
			c.Cron, c.TimeZone, c.DaylightSaving, c.Jitter = "0 0/40 * * * ? 2090", "Australia/Sydney", job.DaylightSavingQuartz, 21*time.Minute
		}, "Jitter", "21m0s", "which is 20m0s"},
		{"jitter beyond its bound", func(c *job.Config) { c.Jitter = 86_401 * time.Second }, "Jitter", "24h0m1s", "between 0 and 86400"},
		{"no command", func(c *job.Config) { c.Type = job.TypeScript }, "ScriptCommandLine", "", "must not be empty"},
		{"blank command", func(c *job.Config) { c.Type, c.ScriptCommandLine = job.TypeScript, " " }, "ScriptCommandLine", " ", "must not be empty"},
		{"command", func(c *job.Config) { c.ScriptCommandLine = "rm" }, "ScriptCommandLine", "rm", "no script job"},
		{"stream", func(c *job.Config) { c.StreamingProcess = true }, "StreamingProcess", "true", "no dataflow job"},
		{"difference", func(c *job.Config) { c.MaxTimeDiff = -2 * time.Second }, "MaxTimeDiff", "-2s", "between 0 and 86400"},
		{"port", func(c *job.Config) { c.Java.MonitorPort = 65_536 }, "Java.MonitorPort", "65536", "between -1 and 65535"},
		{"reconcile", func(c *job.Config) { c.ReconcileInterval = 366 * 24 * time.Hour }, "ReconcileInterval", "8784h0m0s", "at most 525600 minutes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := valid()
			test.change(&c)
			err := c.Validate()
			require.ErrorIs(t, err, job.ErrInvalidConfig)
			var fault *job.FieldError
			require.ErrorAs(t, err, &fault)
			require.Len(t, err.(interface{ Unwrap() []error }).Unwrap(), 1)
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
	c := job.Config{Type: "none", TimeZone: "Mars/Base", DaylightSaving: "no", Java: job.Java{MonitorPort: -2}, ShardingItemParameters: "x"}
	var fields []string
	for _, err := range c.Validate().(interface{ Unwrap() []error }).Unwrap() {
		var fault *job.FieldError
		require.ErrorAs(t, err, &fault)
		fields = append(fields, fault.Field)
	}
	require.Equal(t, []string{
		"Name", "Type", "ShardingTotalCount", "ShardingItemParameters", "TimeZone", "DaylightSaving", "Cron", "Java.MonitorPort",
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
	cause := errors.New(strings.Repeat("é", 5_000))
	fault = &job.FieldError{Field: "Cron", Reason: strings.Repeat("y", 10_000), Err: cause}
	require.Less(t, len(fault.Error()), 600, "reason and cause, too")
	require.True(t, utf8.ValidString(texts.Shorten("x"+cause.Error())), "no letter is cut in two")
	require.Equal(t, cause, errors.Unwrap(fault))
}

func TestCodeThatCannotBeOfItsType(t *testing.T) {
	t.Parallel()
	for kind, want := range map[job.Type]string{job.TypeSimple: "", job.TypeDataflow: "no Dataflow", job.TypeScript: "none that runs scripts"} {
		code, err := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }).Configure(job.Config{Type: kind})
		if want == "" {
			require.NoError(t, err)
			require.NotNil(t, code)
			continue
		}
		require.ErrorIs(t, err, job.ErrInvalidConfig)
		require.ErrorContains(t, err, want)
	}
}

func TestValidateFaultsOfPolicies(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 1}
	c.FailoverScope, c.FailoverLimit, c.Misfire, c.MisfireMax, c.MisfireWindow = "all", 1_001, "twice", 1_001, -2*time.Second
	c.Timeout, c.Retries, c.RetryBackoff, c.ClockPolicy = -3*time.Second, 1_001, 61*time.Second, "ignore"
	err := c.Validate()
	for _, want := range []string{
		`FailoverScope "all"`, "running, assigned", `FailoverLimit "1001"`, `Misfire "twice"`, `MisfireMax "1001"`, `MisfireWindow "-2s"`,
		`Timeout "-3s"`, `Retries "1001"`, `RetryBackoff "1m1s"`, `ClockPolicy "ignore"`,
		"once, all", "warn, refuse",
	} {
		require.ErrorContains(t, err, want)
	}
}

// Each bound is allowed, and what is beyond it is refused.
func TestValidateHoldsTheBounds(t *testing.T) {
	t.Parallel()
	check := func(field string, good bool, change func(*job.Config)) {
		c := job.Config{Name: "orders", Cron: "@every 9600h", ShardingTotalCount: 3}
		change(&c)
		if good {
			require.NoError(t, c.Validate(), field)
		} else {
			require.ErrorContains(t, c.Validate(), field+" ")
		}
	}
	for field, test := range map[string]struct {
		of          func(*job.Config) *int
		least, most int
	}{
		"ShardingTotalCount": {func(c *job.Config) *int { return &c.ShardingTotalCount }, 1, job.MaxShardingTotalCount},
		"Java.MonitorPort":   {func(c *job.Config) *int { return &c.Java.MonitorPort }, -1, 65_535},
		"FailoverLimit":      {func(c *job.Config) *int { return &c.FailoverLimit }, math.MinInt, 1_000},
		"MisfireMax":         {func(c *job.Config) *int { return &c.MisfireMax }, math.MinInt, 1_000},
		"Retries":            {func(c *job.Config) *int { return &c.Retries }, 0, 1_000},
		"MaxConcurrentItems": {func(c *job.Config) *int { return &c.MaxConcurrentItems }, 0, job.MaxShardingTotalCount},
	} {
		for value, good := range map[int]bool{test.least: true, test.most: true, test.most + 1: false} {
			check(field, good, func(c *job.Config) { *test.of(c) = value })
		}
		if test.least > math.MinInt {
			check(field, false, func(c *job.Config) { *test.of(c) = test.least - 1 })
		}
	}
	const year, day, never = 365 * 24 * time.Hour, 24 * time.Hour, math.MinInt64
	for field, test := range map[string]struct {
		of                func(*job.Config) *time.Duration
		least, most, unit time.Duration
		short             time.Duration // the shortest one above 0
	}{
		"MaxTimeDiff":       {func(c *job.Config) *time.Duration { return &c.MaxTimeDiff }, 0, day, time.Second, time.Second},
		"ReconcileInterval": {func(c *job.Config) *time.Duration { return &c.ReconcileInterval }, never, year, time.Minute, time.Second},
		"MisfireWindow":     {func(c *job.Config) *time.Duration { return &c.MisfireWindow }, 0, year, time.Second, time.Second},
		"Timeout":           {func(c *job.Config) *time.Duration { return &c.Timeout }, 0, year, time.Second, time.Millisecond},
		"RetryBackoff":      {func(c *job.Config) *time.Duration { return &c.RetryBackoff }, never, time.Minute, time.Second, time.Millisecond},
		"Jitter":            {func(c *job.Config) *time.Duration { return &c.Jitter }, 0, day, time.Second, time.Millisecond},
		"Offset":            {func(c *job.Config) *time.Duration { return &c.Offset }, 0, year, time.Second, time.Millisecond},
	} {
		for value, good := range map[time.Duration]bool{
			test.least: true, test.unit: true, test.most: true, test.most + 1: false, test.most + test.unit: false, test.unit + 1: true,
			test.short: true, test.short - 1: false, 30: false, // which somebody wrote who meant seconds
		} {
			check(field, good, func(c *job.Config) { *test.of(c) = value })
		}
		if test.least > never {
			check(field, false, func(c *job.Config) { *test.of(c) = test.least - 1 })
		}
	}
}

func TestValidateFaultsOfTimes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, change := range map[string]func(*job.Config){
		`EndTime "2026-03-01T11:00:00Z" must not be before StartTime, 2026-03-01T12:00:00Z`: func(c *job.Config) { c.StartTime, c.EndTime = noon, noon.Add(-time.Hour) },
		`must be in the years 1 to 9999`: func(c *job.Config) { c.EndTime = noon.AddDate(9000, 0, 0) },
		`Jitter "-1s"`:                   func(c *job.Config) { c.Jitter = -1 * time.Second },
		`Jitter "24h0m1s"`:               func(c *job.Config) { c.Jitter = 86_401 * time.Second },
		`Jitter "5s" must be 0`:          func(c *job.Config) { c.Cron, c.Jitter = "@delay 1m", 5*time.Second },
		`Offset "-1s"`:                   func(c *job.Config) { c.Cron, c.Offset = "@every 1m", -1*time.Second },
		`Offset "7s" must be 0`:          func(c *job.Config) { c.Offset = 7 * time.Second },
		`Unmonitored "true"`:             func(c *job.Config) { c.Cron, c.Unmonitored = "@delay 1m", true },
	} {
		c := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 1}
		change(&c)
		require.ErrorContains(t, c.Validate(), want)
	}
}

func TestJitterOfFiresThatAreOver(t *testing.T) {
	t.Parallel()
	c := valid()
	c.Cron, c.Jitter = "0 0,1 0 1 1 ? 2020", 61*time.Second
	require.NoError(t, c.Validate(), "there are none any more that it could delay")
}

func TestJobsThatNeverFireAgain(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, cron := range []string{"0 0 * * * ?", "@delay 1m"} {
		c := job.Config{Name: "orders", Cron: cron, ShardingTotalCount: 1}
		c.EndTime = noon
		require.NoError(t, c.ValidateAt(noon.Add(-time.Minute)))
		require.ErrorContains(t, c.ValidateAt(noon), "never fires after 2026-03-01T12:00:00Z")
	}
	require.NoError(t, job.Config{Name: "orders", Cron: cronexpr.Triggered, ShardingTotalCount: 1}.ValidateAt(noon), "somebody may trigger it")
}

// A window that is none hides no fault of the cron.
func TestFaultsOfWindowAndCronAreBothNamed(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, cron := range []string{"", "every day"} {
		c := job.Config{Name: "orders", Cron: cron, ShardingTotalCount: 1}
		c.StartTime, c.EndTime = noon, noon.Add(-time.Hour)
		err := c.Validate()
		require.ErrorContains(t, err, "EndTime ")
		require.ErrorContains(t, err, "Cron ")
	}
}
