package scheduler_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// pauses collects what an observer hears of jobs that pause.
type pauses struct {
	mu    sync.Mutex
	heard []error
}

func (p *pauses) Observe(event scheduler.Event) {
	if e, is := event.(scheduler.PauseEvent); is {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.heard = append(p.heard, e.Err)
	}
}

func (p *pauses) last() (calls int, last error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.heard) == 0 {
		return 0, nil
	}
	return len(p.heard), p.heard[len(p.heard)-1]
}

// edited returns a good configuration of "orders" with a text in it replaced, as by an operator's hand.
func edited(t *testing.T, from, to string) string {
	t.Helper()
	good := mustEncode(jobOf(2))
	require.Contains(t, good, from)
	return strings.Replace(good, from, to, 1)
}

// What cannot be used pauses the job on every instance, whichever way it came, and each says so once:
// with every member at fault, its value and what is allowed. When it can be used again the job goes on.
func TestAConfigurationThatCannotBeUsedPausesTheJob(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		from, to string
		want     []string
	}{
		"no JSON":              {`"jobName"`, `"jobName`, []string{"line 1, column", "must be a JSON object"}},
		"another kind of text": {`{"jobName"`, `x{"jobName"`, []string{"must be a JSON object"}},
		"a word":               {`"overwrite":false`, `"overwrite":false,"misfirePolicy":"each"`, []string{`misfirePolicy is \"each\"`, "once, all"}},
		"a negative time":      {`"overwrite":false`, `"overwrite":false,"timeoutSeconds":-5`, []string{`timeoutSeconds is \"-5\"`, "between 0 and 31536000"}},
		"an unknown strategy":  {`"jobShardingStrategyClass":""`, `"jobShardingStrategyClass":"by moon"`, []string{`jobShardingStrategyClass is \"by moon\"`, "registered are"}},
		"another job's name":   {`"jobName":"orders"`, `"jobName":"bills"`, []string{`jobName is \"bills\"`, `must be \"orders\"`}},
		"another class":        {`"jobClass":"orders"`, `"jobClass":"bills"`, []string{`jobClass is \"bills\"`, `must be \"orders\"`}},
		"another type":         {`"SIMPLE"`, `"DATAFLOW"`, []string{`jobType is \"DATAFLOW\"`, "no Dataflow"}},
		"a bad cron":           {everyFive, `0 61 * * * ?`, []string{`cron is \"0 61 * * * ?\"`, "minute"}},
		"several at once": {
			`"overwrite":false`, `"overwrite":false,"misfirePolicy":"each","timeoutSeconds":-5,"clockPolicy":"guess"`,
			[]string{`misfirePolicy is`, `timeoutSeconds is`, `clockPolicy is`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var log, other lines
				var heard pauses
				logTo := func(l *lines) scheduler.Option {
					return scheduler.WithLogger(slog.New(slog.NewTextHandler(l, nil)))
				}
				a := c.startWith("a", nil, []scheduler.Option{logTo(&log), scheduler.WithObserver(&heard)}, jobOf(2))
				c.startWith("b", nil, []scheduler.Option{logTo(&other)}, jobOf(2))
				sleepUntil(6 * time.Second)
				require.Len(t, c.take(), 2)
				put(t, c.server, "/orders/config", edited(t, test.from, test.to))
				sleepUntil(7 * time.Second)
				put(t, c.server, "/orders/config", edited(t, test.from, test.to)) // no news
				sleepUntil(26 * time.Second)
				require.Empty(t, c.take())
				for _, l := range []*lines{&log, &other} {
					require.Equal(t, 1, l.count("level=ERROR"), l.text.String())
					for _, want := range test.want {
						require.Contains(t, errorLine(l), want)
					}
				}
				health := a.Health(t.Context()).Jobs[0]
				calls, why := heard.last()
				require.Equal(t, 1, calls)
				require.Error(t, why)
				require.Equal(t, why.Error(), health.Config)

				c.change(jobOf(2))
				sleepUntil(31 * time.Second)
				require.Len(t, c.take(), 2)
				for _, l := range []*lines{&log, &other} {
					require.Equal(t, 1, l.count("job goes on"))
				}
				calls, why = heard.last()
				require.Equal(t, 2, calls)
				require.NoError(t, why)
				require.Empty(t, a.Health(t.Context()).Jobs[0].Config)
			})
		})
	}
}

// errorLine returns the first line of a log that is an error.
func errorLine(l *lines) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, "level=ERROR") {
			return line
		}
	}
	return ""
}

// What Java stored and Java accepts, and what a slip of the pen or a later version wrote, is warned of
// once, and runs. It stays when the code wins.
func TestAConfigurationThatIsDoubtfulRuns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		from, to string
		want     string
	}{
		"failover without monitoring": {`"monitorExecution":true`, `"monitorExecution":false`, "failover is"},
		"surplus parameters":          {`"shardingItemParameters":""`, `"shardingItemParameters":"7=H"`, "shardingItemParameters is"},
		"a misspelt member":           {`"overwrite":false`, `"overwrite":false,"misfirePolcy":"all"`, "misfirePolicy may have been meant"},
		"a later version's":           {`"overwrite":false`, `"overwrite":false,"lane":5`, "lane is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				text := edited(t, test.from, test.to)
				if name == "failover without monitoring" {
					text = strings.Replace(text, `"failover":false`, `"failover":true`, 1)
				}
				put(t, c.server, "/orders/config", text)
				var log lines
				a := c.startWith("a", nil, []scheduler.Option{scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}, jobOf(2))
				sleepUntil(6 * time.Second)
				require.Len(t, c.take(), 2)
				require.Equal(t, 1, log.count("should be looked at"))
				require.Equal(t, 1, log.count(test.want))
				require.Empty(t, a.Health(t.Context()).Jobs[0].Config)
				require.Equal(t, text, stored(t, c.server)["/orders/config"])
				require.NoError(t, c.declaresOver(jobOf(2)))
				_, kept, _ := strings.Cut(test.to, `"overwrite":false`)
				require.Contains(t, stored(t, c.server)["/orders/config"], kept)
			})
		})
	}
}

// declaresOver declares a configuration that wins over the stored one.
func (c *cluster) declaresOver(cfg job.Config) error {
	c.t.Helper()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	s, err := scheduler.New(reg)
	require.NoError(c.t, err)
	return errOf(s.Add(c.t.Context(), cfg, nothing, scheduler.OnConflict(scheduler.CodeWins)))
}

// A job that is data is judged by the same rules, and the metrics of one that is removed do not say
// for ever that it pauses.
func TestAJobThatIsDataPauses(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var heard pauses
		i := c.startWith("a", nil, []scheduler.Option{scheduler.WithHandler("orders", nothing), scheduler.WithObserver(&heard)})
		put(t, c.server, "/orders/config", edited(t, `"overwrite":false`, `"overwrite":false,"misfirePolicy":"each"`))
		sleepUntil(6 * time.Second)
		require.Contains(t, i.Health(t.Context()).Jobs[0].Config, "misfirePolicy")
		_, why := heard.last()
		require.ErrorIs(t, why, job.ErrInvalidConfig)
		c.removeJob("orders")
		sleepUntil(20 * time.Second)
		_, why = heard.last()
		require.NoError(t, why)
	})
}
