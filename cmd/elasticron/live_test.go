package main

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/scheduler"
)

// live is a world in which two processes run the jobs of the namespace shop: orders and mail, of three items each,
// which fire on the first of July only.
type live struct {
	*world
	mu    sync.Mutex
	runs  []job.ShardingContext // of item 0 of orders
	fails func(job.ShardingContext) bool
	held  chan struct{} // not nil: code of item 2 waits until it is closed
}

var errCode = errors.New("no such table")

func newLive(t *testing.T) *live {
	t.Helper()
	l := &live{world: newWorld(t), fails: func(job.ShardingContext) bool { return false }}
	l.now = time.Now
	for _, id := range []string{first, second} {
		reg := l.etcdServer.Open("shop", lasting)
		s, err := scheduler.New(reg, scheduler.WithInstanceID(id))
		require.NoError(t, err)
		for _, name := range []string{"orders", "mail"} {
			_, err := s.Add(t.Context(), job.Config{Name: name, Cron: "0 0 0 1 7 ?", ShardingTotalCount: 3}, job.HandlerFunc(l.execute))
			require.NoError(t, err)
		}
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		t.Cleanup(func() {
			l.release()
			stop()
			require.NoError(t, errors.Join(<-done, reg.Close(context.Background())))
		})
		<-s.Ready()
	}
	return l
}

// execute is the code of both jobs.
func (l *live) execute(ctx context.Context, sc job.ShardingContext) error {
	l.mu.Lock()
	held := l.held
	if sc.JobName == "orders" && sc.Item == 0 {
		l.runs = append(l.runs, sc)
	}
	fails := l.fails(sc)
	l.mu.Unlock()
	if held != nil && sc.Item == 2 {
		select {
		case <-held:
		case <-ctx.Done():
		}
	}
	if fails {
		return errCode
	}
	return nil
}

// failing has executions fail from now on.
func (l *live) failing(which func(job.ShardingContext) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails = which
}

// hold has item 2 go on until it is released.
func (l *live) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = make(chan struct{})
}

func (l *live) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		close(l.held)
	}
	l.held = nil
}

// fires are those for which orders ran so far.
func (l *live) fires() (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sc := range l.runs {
		all = append(all, sc.Fire.Format(time.DateOnly))
	}
	return all
}

func TestATriggerIsWaitedFor(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	out := l.must(t, on("trigger", "orders", "--wait", "--parameter", "day=1")...)
	require.Regexp(t, regexp.MustCompile(`(?m)^ITEM +INSTANCE +STATE +TOOK +TOKEN +ERROR\n(\d +10\.0\.0\.\d@-@7-[ab] +ok +\S+ +\d+ +-\n){3}Done: operation `), out)
	require.Equal(t, "day=1", l.runs[0].TriggerParameter)

	l.failing(func(sc job.ShardingContext) bool { return sc.Item == 1 })
	out, errOut, status := l.does(t, on("trigger", "orders", "--wait", "--items", "0,1")...)
	require.Equal(t, exitSome, status)
	require.Regexp(t, `(?m)^1 .* failed .* no such table$`, out)
	require.Regexp(t, `(?m)^Done, and items failed: operation `, out)
	require.Regexp(t, `(?m)^0 .* ok `, out)
	require.Contains(t, errOut, "item 1 failed (no such table)")

	var result operate.Result
	out, _, status = l.does(t, on("trigger", "orders", "--wait", "-o", "json")...)
	require.Equal(t, exitSome, status)
	require.NoError(t, json.Unmarshal([]byte(out), &result))
	require.True(t, result.Progress.Done)
	require.Len(t, result.Progress.Items, 3)
	require.Len(t, result.Progress.Failed(), 1)

	out, errOut, status = l.does(t, on("trigger", "orders", "mail", "--wait", "--yes", "--items", "0")...)
	require.Zero(t, status, errOut)
	require.Equal(t, "2 of 2 jobs\n", out)
	l.failing(func(sc job.ShardingContext) bool { return sc.JobName == "mail" })
	out, errOut, status = l.does(t, on("trigger", "orders", "mail", "--wait", "--yes")...)
	require.Equal(t, exitSome, status)
	require.Equal(t, "1 of 2 jobs\n", out)
	require.Contains(t, errOut, "mail: item 0 failed (no such table)")
}

// The time to wait is over while an item runs: that is told, and with the id one waits for the same trigger again.
func TestATriggerThatTakesTooLong(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.hold()
	out, errOut, status := l.does(t, on("trigger", "orders", "--wait", "--timeout", "10s", "--id", "slow")...)
	require.Equal(t, exitWaited, status)
	require.Contains(t, errOut, "trigger \"orders\" is done (operation slow), and not confirmed yet: ")
	require.Regexp(t, `(?m)^2 +\S+ +(asked|running) `, out)
	require.Regexp(t, `(?m)^Not confirmed yet: operation slow, `, out)
	_, errOut, status = l.does(t, on("trigger", "orders")...)
	require.Equal(t, exitRefused, status)
	require.Contains(t, errOut, "wait for it, or replace it with --replace")
	l.release()
	out = l.must(t, on("trigger", "orders", "--wait", "--id", "slow")...)
	require.Regexp(t, `(?m)^2 +\S+ +ok `, out)
	require.Contains(t, out, "Was done before, as operation slow.")
	require.Len(t, l.fires(), 1)
}

func TestABackfillByCommand(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	years := []string{"2021-07-01", "2022-07-01", "2023-07-01"}
	between := []string{"--from", "2021-01-01T00:00:00Z", "--to", "2023-12-31T00:00:00Z"}
	backfill := func(more ...string) []string {
		return on(append(append([]string{"backfill", "orders"}, between...), more...)...)
	}

	out := l.must(t, backfill("--dry-run")...)
	require.Contains(t, out, "3 fires. Nothing was done")
	require.NotContains(t, out, "may have run")
	require.Empty(t, l.fires())
	out = l.must(t, backfill("--yes", "--reason", "outage")...)
	require.Equal(t, "3 of 3 fires have run.\n", out)
	require.Equal(t, years, l.fires(), "one after the other")
	const again = "  ! 3 of the 3 fires may have run already, those up to 2023-07-01 00:00:00 UTC: what has run is run again\n"
	require.Contains(t, l.must(t, backfill("--dry-run")...), again)
	_, errOut, _ := l.does(t, backfill("--dry-run", "-o", "json")...)
	require.Equal(t, again, errOut)
	require.Contains(t, l.must(t, backfill("--dry-run", "--items", "1")...), "3 of the 3 fires may have run")
	l.program.asked = func(any) bool { return true }
	_, errOut, _ = l.does(t, backfill()...)
	require.Equal(t, "backfill 3 fires of job \"orders\"\n"+again+"Go on? (y/N) elasticron: nothing was done\n", errOut)

	l.failing(func(sc job.ShardingContext) bool { return sc.Item == 0 && sc.Fire.Year() == 2022 })
	out, errOut, status := l.does(t, backfill("--yes", "--id", "again")...)
	require.Equal(t, exitSome, status)
	require.Equal(t, "2 of 3 fires have run.\n", out)
	require.Regexp(t, `fire 2022-07-01T00:00:00Z: item 0 failed \(no such table\); go on with the same command and --id again@\d+, which leaves out the fire that failed\n$`, errOut)
	server := l.withServer(t)
	l.must(t, on("disable", "item/orders/1", "--yes")...)
	for _, flags := range [][]string{on(), server} {
		out = l.must(t, append(append([]string{"backfill", "orders", "--dry-run", "--id", "again"}, between...), flags...)...)
		require.Contains(t, out, "! 1 of the 3 fires may have run already", "the others are left out")
		require.Contains(t, out, "  2 of the 3 fires were asked for before with this id, and are left out\n")
		require.Contains(t, out, "  ! item 1 is disabled, and runs for none of the fires until it is enabled\n")
		require.Regexp(t, `^2023-07-01 00:00:00 UTC\n`, out)
		require.Contains(t, out, "\n1 fire. Nothing was done")
	}
	l.must(t, on("enable", "item/orders/1", "--yes")...)
	out, errOut, status = l.does(t, backfill("--yes", "--id", "again")...)
	require.Equal(t, exitSome, status, "the failure is told once more")
	require.Equal(t, "3 of 3 fires have run; 1 of them was asked for by an earlier call, which has said what ran.\n", out)
	require.Contains(t, errOut, "item 0 failed")
	require.Equal(t, append(years, years...), l.fires(), "each once")
}

// A backfill says which items do not run for it, before it asks and at its end, also through a server.
func TestABackfillBesideADisabledItem(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.must(t, on("disable", "item/orders/1", "--yes")...)
	for _, flags := range [][]string{on(), l.withServer(t)} {
		backfill := append([]string{"backfill", "orders", "--from", "2022-01-01T00:00:00Z", "--to", "2023-12-31T00:00:00Z"}, flags...)
		require.Contains(t, l.must(t, append(backfill, "--dry-run")...), "  ! item 1 is disabled, and runs for none of the fires until it is enabled\n")
		require.Equal(t, "2 of 2 fires have run, but for item 1, which is disabled.\n", l.must(t, append(backfill, "--yes")...))
	}
}

func TestABackfillThatStops(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	between := []string{"--from", "2022-01-01T00:00:00Z", "--to", "2023-12-31T00:00:00Z", "--yes"}
	backfill := func(more ...string) []string {
		return on(append(append([]string{"backfill", "orders"}, between...), more...)...)
	}
	l.hold()
	out, errOut, status := l.does(t, backfill("--timeout", "10s", "--id", "night")...)
	require.Equal(t, exitWaited, status)
	require.Equal(t, "0 of 2 fires have run.\n", out)
	require.Contains(t, errOut, "go on with the same command and --id night")
	_, errOut, status = l.does(t, backfill()...)
	require.Equal(t, exitRefused, status, "one goes on")
	require.Contains(t, errOut, "goes on")
	l.release()
	var result operate.BackfillResult
	require.NoError(t, json.Unmarshal([]byte(l.must(t, backfill("--id", "night", "-o", "json")...)), &result))
	require.Len(t, result.Done, 2)
	require.Equal(t, []string{"2022-07-01", "2023-07-01"}, l.fires())

	for _, how := range []string{"--yes", "--dry-run", "--yes=false"} { // nobody is asked about nothing
		out, errOut, status = l.does(t, on("backfill", "orders", "--from", "2022-01-01T00:00:00Z", "--to", "2022-01-02T00:00:00Z", how)...)
		require.Equal(t, exitRefused, status, how)
		require.Contains(t, errOut, "there are no fires to be run")
		require.Empty(t, out, how)
	}
	_, errOut, status = l.does(t, on("backfill", "orders", "--from", "2022-01-02T00:00:00Z", "--to", "2022-01-01T00:00:00Z", "--yes")...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "want the earlier one first")
	l.must(t, on("disable", "job/orders", "--wait")...)
	_, errOut, status = l.does(t, backfill()...)
	require.Equal(t, exitRefused, status)
	require.Contains(t, errOut, "the job is disabled")
}
