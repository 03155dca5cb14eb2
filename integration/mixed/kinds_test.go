package mixed

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/job/script"
)

// kind is a job of another type than simple, of which a Java instance of ElasticJob 3.x has item 0 and a Go instance item
// 1. Each runs its own.
func (c *cluster) kind(j java, spec javapeer.Job, cfg job.Config, code job.Handler) (g *golang, last string) {
	c.t.Helper()
	cfg.ShardingItemParameters, cfg.JobParameter = "0=Berlin,1=Oslo", "a=b & c"
	g = c.startGoRunning(c.open(c.address), goID, cfg, code)
	c.goLeads()
	stored := mustGet(c.t, c, c.tree.Config())
	last = c.joinJava(j.last, spec)
	s := c.eventually("two instances", settled(2, goID, last))
	require.Equal(c.t, []string{last, goID}, ownersOf(s))
	belief, err := j.last.Belief(c.job)
	require.NoError(c.t, err)
	lines := func(text string) []string { return slices.Sorted(strings.SplitSeq(text, "\n")) } // Java orders properties by their hashes
	require.Equal(c.t, lines(stored), lines(belief.Config), "what Java makes of the configuration and would write")
	require.Equal(c.t, cfg.Type, s.Config.Value.Type)
	return g, last
}

// context is what either side tells a script or a web server of item 0 or 1.
func (c *cluster) context(item int, owner string) string {
	return `{"jobName":"` + c.job + `","taskId":"` + c.job + `@-@` + strconv.Itoa(item) + `@-@READY@-@` + owner +
		`","shardingTotalCount":2,"jobParameter":"a\u003db \u0026 c","shardingItem":` + strconv.Itoa(item) +
		`,"shardingParameter":"` + []string{"Berlin", "Oslo"}[item] + `"}`
}

// Java fetches and processes its item with its code, and Go with its own.
func aDataflowJob(name string, streaming bool) func(*testing.T, java) {
	return func(t *testing.T, j java) {
		c := j.newCluster(t, name)
		spec := javapeer.NewJob(c.job, never, 2)
		spec.Type, spec.Props = javapeer.TypeDataflow, map[string]string{"streaming.process": strconv.FormatBool(streaming)}
		cfg := c.config(never, 2)
		cfg.Class, cfg.Type, cfg.StreamingProcess = javapeer.DataflowClass, job.TypeDataflow, streaming
		var mu sync.Mutex
		var fetched, processed int
		var runs []job.ShardingContext
		g, last := c.kind(j, spec, cfg, job.Dataflow[int]{
			Fetch: func(_ context.Context, sc job.ShardingContext) ([]int, error) {
				mu.Lock()
				defer mu.Unlock()
				fetched++
				runs = append(runs, sc)
				return []int{1, 2, 3}[:max(0, 3-fetched)], nil
			},
			Process: func(context.Context, job.ShardingContext, []int) error {
				mu.Lock()
				defer mu.Unlock()
				processed++
				return nil
			},
		})
		j.last.Feed(c.job, 2)
		require.NoError(t, g.triggerJob(t.Context(), c.job))
		batches := map[bool]int{false: 1, true: 2}[streaming]
		events := j.last.WaitEvents(c.job, func(events []javapeer.Event) bool {
			return countKind(events, javapeer.EventEnd) == batches && (!streaming || countKind(events, javapeer.EventFetch) == 3)
		})
		c.eventually("both have run", func(s *jobtree.State) bool {
			mu.Lock()
			defer mu.Unlock()
			return processed == batches && idle(s)
		})
		mu.Lock()
		defer mu.Unlock()
		for _, e := range events {
			require.Equal(t, 0, e.Item)
			require.Equal(t, "Berlin", e.ItemParameter)
			require.Equal(t, "a=b & c", e.JobParameter)
		}
		for _, sc := range runs {
			require.Equal(t, 1, sc.Item)
			require.Equal(t, "Oslo", sc.ItemParameter)
			require.Equal(t, "a=b & c", sc.JobParameter)
		}
		require.Equal(t, []string{last, goID}, ownersOf(c.state()))
	}
}

func countKind(events []javapeer.Event, kind string) int {
	n := 0
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// A job without a cron runs when the Java application says so, or the console, or Go. Each side runs its own item.
func aJobOfOneShot(t *testing.T, j java) {
	c := j.newCluster(t, "one_shot")
	g := c.startGo(c.config(cronexpr.Triggered, 2))
	c.goLeads()
	last := c.joinJava(j.last, javapeer.NewJob(c.job, "", 2))
	s := c.eventually("two instances", settled(2, goID, last))
	require.Equal(t, []string{last, goID}, ownersOf(s))
	for i, run := range []func() error{
		func() error { return j.last.Execute(c.job) },
		func() error { return g.triggerJob(t.Context(), c.job) },
		func() error { return j.first.Console(c.java()).Trigger(c.job) },
	} {
		require.NoError(t, run())
		events := j.last.WaitEvents(c.job, began(0, i))
		require.Equal(t, map[int]int{0: i + 1}, begins(events))
		runs := g.wait("a run by hand", ran(1, i))
		require.Len(t, runs, i+1, "%s", shown(runs))
		require.Equal(t, job.Manual, runs[i].Source)
		c.eventually("both have ended", idle)
	}
}

// The script of either side gets the words of the command line as Java makes them, and the context of its own item.
func aScriptJob(t *testing.T, j java) {
	c := j.newCluster(t, "a_script")
	program, told := filepath.Join(t.TempDir(), "script"), t.TempDir()
	text := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + told + "/$$.new && mv " + told + "/$$.new " + told + "/$$\n"
	require.NoError(t, os.WriteFile(program, []byte(text), 0o700)) //nolint:gosec // it is run
	line := program + ` "by region" 'it"s' --mode="x y" \n`
	spec := javapeer.NewJob(c.job, never, 2)
	spec.Script = line
	cfg := c.config(never, 2)
	cfg.Class, cfg.Type, cfg.ScriptCommandLine = "", job.TypeScript, line
	g, last := c.kind(j, spec, cfg, script.Job{JavaQuoting: true})
	require.Equal(t, javapeer.TypeScript, mustGet(t, c, c.tree.Root()))
	require.NoError(t, g.triggerJob(t.Context(), c.job))
	var got []string
	require.Eventually(t, func() bool {
		files, err := filepath.Glob(told + "/*")
		got = nil
		for _, file := range files {
			if filepath.Ext(file) == "" {
				text, bad := os.ReadFile(file)
				err = errors.Join(err, bad)
				got = append(got, string(text))
			}
		}
		return err == nil && len(got) == 2
	}, patience, tick)
	words, err := script.JavaWords(line)
	require.NoError(t, err)
	before := strings.Join(words[1:], "\n") + "\n"
	require.ElementsMatch(t, []string{before + c.context(0, last) + "\n", before + c.context(1, goID) + "\n"}, got)
}

// A web server is called by either side for its own item, in the same way.
func anHTTPJob(t *testing.T, j java) {
	c := j.newCluster(t, "a_call")
	calls := make(chan string, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- r.Method + " " + r.URL.String() + " " + r.Header.Get(httpjob.ContextHeader)
		_, _ = w.Write([]byte("done"))
	}))
	t.Cleanup(server.Close)
	spec := javapeer.NewJob(c.job, never, 2)
	spec.Type, spec.Props = javapeer.TypeHTTP, map[string]string{"http.uri": server.URL + "/run?a=1", "http.method": "GET"}
	cfg := c.config(never, 2)
	cfg.Class, cfg.Props = httpjob.Class, spec.Props
	g, last := c.kind(j, spec, cfg, httpjob.Job{})
	for range 2 {
		require.NoError(t, g.triggerJob(t.Context(), c.job))
		got := []string{<-calls, <-calls}
		slices.Sort(got)
		require.Equal(t, []string{"GET /run?a=1 " + c.context(0, last), "GET /run?a=1 " + c.context(1, goID)}, got)
		c.eventually("both have ended", idle)
	}
}
