//go:build linux

package worker_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/job"
)

var soak = flag.Duration("worker.soak", 0, "how long three workers run 200 script jobs; 0 skips the test")

// Three workers share 200 script jobs for a while: memory, descriptors, processes and goroutines stay where they are.
// What was measured is printed.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("-worker.soak is 0")
	}
	const jobs, samples = 200, 30
	s := newStage(t)
	path := s.script("work", `echo "$ELASTICRON_JOB"; head -c 2000 /dev/zero | tr '\0' x; setsid sleep 600 & exit 0`)
	for i := range jobs {
		s.store(job.Config{Name: "job" + strconv.Itoa(i), Type: job.TypeScript, Cron: "@every 20s", Jitter: 18 * time.Second, ShardingTotalCount: 1, ScriptCommandLine: path})
	}
	began := measured(t)
	var workers []*running
	for i := range 3 {
		workers = append(workers, s.start("script: {commands: [DIR/bin/*], log: {directory: DIR/log, size: 4K, files: 1}}\n"+
			"history: {file: DIR/history"+strconv.Itoa(i)+".db, keep: 1m, outputs: 2}\n"))
	}
	var taken []usage
	for range samples {
		time.Sleep(*soak / samples)
		taken = append(taken, measured(t))
	}
	runs, failed := s.executions(t, len(workers))
	for _, w := range workers {
		w.stop()
	}
	for _, w := range workers {
		require.NoError(t, <-w.ended)
	}
	ended := measured(t)
	early, late := middle(taken[samples/3:samples*2/3]), middle(taken[samples*2/3:]) // the first third warms up
	t.Logf("%d jobs, %d workers, %s: %d executions began in the last minute, %d of them failed\n%s", jobs, len(workers), *soak, runs, failed,
		table(map[string]usage{"before the workers": began, "middle third": early, "last third": late, "after the workers": ended}, taken))

	require.NotZero(t, runs, "nothing runs")
	require.Zero(t, failed, "executions failed")
	require.Less(t, late.rss, early.rss+early.rss/10+(16<<20), "bytes of memory")
	require.Less(t, late.heap, early.heap+early.heap/5+(8<<20), "bytes of the heap")
	require.Less(t, late.descriptors, early.descriptors+20, "descriptors")
	require.Less(t, late.goroutines, early.goroutines+100, "goroutines")
	require.Zero(t, ended.children, "processes are left")
	require.LessOrEqual(t, ended.descriptors, began.descriptors+5, "descriptors are left")
}

// executions counts what began in the last minute, which is what the histories keep at least.
func (s *stage) executions(t *testing.T, workers int) (all, failed int) {
	t.Helper()
	for i := range workers {
		store, err := sqlite.Open(t.Context(), s.dir+"/history"+strconv.Itoa(i)+".db")
		require.NoError(t, err)
		page, err := store.Executions(t.Context(), history.ExecutionQuery{From: time.Now().Add(-time.Minute), Paging: history.Paging{PerPage: history.MaxPerPage}})
		require.NoError(t, err)
		all += page.Total
		for _, e := range page.Rows {
			if e.FailureCause != "" {
				failed++
			}
		}
		require.NoError(t, store.Close())
	}
	return all, failed
}

// usage is what this process takes at a moment, with all workers.
type usage struct {
	rss, heap                                  int64
	descriptors, children, threads, goroutines int
}

// middle is the median of each number.
func middle(all []usage) usage {
	of := func(number func(usage) int64) int64 {
		var numbers []int64
		for _, u := range all {
			numbers = append(numbers, number(u))
		}
		slices.Sort(numbers)
		return numbers[len(numbers)/2]
	}
	return usage{
		rss: of(func(u usage) int64 { return u.rss }), heap: of(func(u usage) int64 { return u.heap }),
		descriptors: int(of(func(u usage) int64 { return int64(u.descriptors) })), children: int(of(func(u usage) int64 { return int64(u.children) })),
		threads: int(of(func(u usage) int64 { return int64(u.threads) })), goroutines: int(of(func(u usage) int64 { return int64(u.goroutines) })),
	}
}

// table lays out what was measured.
func table(named map[string]usage, taken []usage) string {
	var text strings.Builder
	lines := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, u usage) {
		_, _ = fmt.Fprintf(lines, "%s\t%.1f\t%.1f\t%d\t%d\t%d\t%d\t\n", name, float64(u.rss)/(1<<20), float64(u.heap)/(1<<20), u.descriptors, u.children, u.threads, u.goroutines)
	}
	_, _ = fmt.Fprintln(lines, "\tRSS MiB\theap MiB\tdescriptors\tprocesses\tthreads\tgoroutines\t")
	for i, u := range taken {
		line("sample "+strconv.Itoa(i+1), u)
	}
	for _, name := range []string{"before the workers", "middle third", "last third", "after the workers"} {
		line(name, named[name])
	}
	_ = lines.Flush()
	return text.String()
}

func measured(t *testing.T) (u usage) {
	t.Helper()
	debug.FreeOSMemory()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	u.heap, u.goroutines = int64(memory.HeapAlloc), runtime.NumGoroutine()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "VmRSS:":
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			require.NoError(t, err)
			u.rss = kib << 10
		case "Threads:":
			u.threads, err = strconv.Atoi(fields[1])
			require.NoError(t, err)
		}
	}
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	u.descriptors = len(open)
	lists, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that may be gone
		u.children += len(strings.Fields(string(text)))
	}
	return u
}
