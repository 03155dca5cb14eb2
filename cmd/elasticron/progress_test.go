package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/seed"
)

// On a terminal there is one line, which is drawn anew, is no wider than the terminal, and is gone at the end.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	told := &teller{out: &out, drawn: true, size: func() (int, int) { return 12, 24 }, pause: time.Hour}
	told.tell("1 of 3 jobs")
	told.tell("1 of 3 jobs")
	told.tell("2 of 3 jobs\x1b[31m and more")
	told.end()
	told.end()
	require.Equal(t, "\r1 of 3 jobs\x1b[K\r2 of 3 jobs\x1b[K\r\x1b[K", out.String())
}

// Elsewhere there is a line every few seconds at most, and none of what is quick.
func TestProgressInALog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		told := newProgram().teller(&out)
		for n := range 121 { // a minute
			told.jobs(n, 200)
			time.Sleep(500 * time.Millisecond)
		}
		told.end()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, lines, 12)
		require.Equal(t, "10 of 200 jobs", lines[0])
		require.Equal(t, "120 of 200 jobs", lines[11])

		out.Reset()
		told = newProgram().teller(&out)
		told.jobs(1, 2)
		time.Sleep(time.Second)
		told.jobs(2, 2)
		told.end()
		require.Empty(t, out.String())
	})
}

// chatty has commands tell of all progress.
func chatty(w *world) *world {
	w.pause = 0
	return w
}

// Seed and migrate tell how many jobs are done, beside their report, which a script may read.
func TestJobsAreCountedWhileTheyAreMoved(t *testing.T) {
	t.Parallel()
	w := chatty(newWorld(t))
	var text strings.Builder
	for n := range 3 {
		fmt.Fprintf(&text, "job-%d: {config: {cron: '@daily', shardingTotalCount: 1}}\n", n)
	}
	file := seedFile(t, "jobs.yaml", text.String())
	const told = "1 of 3 jobs\n2 of 3 jobs\n3 of 3 jobs\n"
	out, errOut, status := w.does(t, "seed", "--etcd", "x", "--namespace", "shop", "--json", file)
	require.Zero(t, status, errOut)
	require.Equal(t, told, errOut)
	var report struct{ Nodes []seed.Node }
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Nodes, 3)

	for _, apply := range []string{"--apply=false", "--apply"} {
		out, errOut, status = w.does(t, "migrate", "--from-etcd", "x", "--to", "y", "--namespace", "shop", "--to-namespace", "market", "--json", apply)
		require.Zero(t, status, errOut)
		require.Equal(t, told, errOut)
		var moved struct{ Jobs []any }
		require.NoError(t, json.Unmarshal([]byte(out), &moved))
		require.Len(t, moved.Jobs, 3)
	}
}

// What waits for a job tells how far it is, and a backfill how many fires have run.
func TestProgressOfOperations(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	chatty(l.world)
	for _, flags := range [][]string{on(), l.withServer(t)} {
		out, errOut, status := l.does(t, append([]string{
			"backfill", "orders", "--from", "2021-01-01T00:00:00Z", "--to", "2023-12-31T00:00:00Z", "--yes", "-o", "json",
		}, flags...)...)
		require.Zero(t, status, errOut)
		var result operate.BackfillResult
		require.NoError(t, json.Unmarshal([]byte(out), &result))
		require.Len(t, result.Done, 3)
		for n := range 3 {
			require.Contains(t, errOut, fmt.Sprintf("%d of 3 fires have run; 3 of 3  items have run, or will not\n", n))
		}
	}
	_, errOut, status := l.does(t, on("remove", "orders", "--yes", "--force", "-o", "json")...)
	require.Zero(t, status, errOut)
	require.Contains(t, errOut, "nothing runs\n")
}
