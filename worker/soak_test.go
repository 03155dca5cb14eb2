//go:build linux

package worker_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

var soak = flag.Duration("worker.soak", 0, "how long three workers run 200 script jobs; 0 skips the test")

// Three workers share 200 script jobs for a while: memory, descriptors, processes and goroutines stay where they are.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("-worker.soak is 0")
	}
	s := newStage(t)
	path := s.script("work", `echo "$ELASTICRON_JOB"; head -c 2000 /dev/zero | tr '\0' x; sleep 0.1 & exit 0`)
	for i := range 200 {
		s.store(job.Config{Name: "job" + strconv.Itoa(i), Type: job.TypeScript, Cron: "@every 20s", Jitter: 18 * time.Second, ShardingTotalCount: 1, ScriptCommandLine: path})
	}
	var workers []*running
	for i := range 3 {
		workers = append(workers, s.start("script: {commands: [DIR/bin/*], log: {directory: DIR/log, size: 4K, files: 1}}\n"+
			"history: {file: DIR/history"+strconv.Itoa(i)+".db, keep: 1m}\n"))
	}
	time.Sleep(*soak / 3) // until all is warm
	before := quiet(t)
	time.Sleep(*soak - *soak/3)
	after := quiet(t)
	t.Logf("before %+v, after %+v", before, after)
	require.Less(t, after.rss, before.rss+before.rss/4+(16<<20), "bytes of memory")
	require.Less(t, after.descriptors, before.descriptors+20, "descriptors")
	for _, w := range workers {
		w.stop()
		require.NoError(t, <-w.ended)
	}
	require.Zero(t, usage(t).children, "processes are left")
}

// quiet is the usage at a moment at which nothing runs.
func quiet(t *testing.T) (u used) {
	t.Helper()
	require.Eventually(t, func() bool { u = usage(t); return u.children == 0 }, soon, time.Millisecond)
	return u
}

type used struct {
	rss                            int64
	descriptors, children, threads int
}

func usage(t *testing.T) (u used) {
	t.Helper()
	runtime.GC()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "VmRSS:":
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			u.rss = kib << 10
		case "Threads:":
			u.threads, _ = strconv.Atoi(fields[1])
		}
	}
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	u.descriptors = len(open)
	lists, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		u.children += len(strings.Fields(string(text)))
	}
	return u
}
