package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-shellwords"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

// withoutExample are commands that need none: they start processes that the tests of their own start, too.
var withoutExample = map[string]bool{
	"elasticron": true, "elasticron demo": true, "elasticron demo-worker": true, "elasticron server": true, "elasticron worker": true,
}

// The examples of all commands work, one after the other, in a folder with the files that they name. They run on
// registries in memory.
func TestExamplesWork(t *testing.T) {
	root := newRoot(newProgram())
	seen := 0
	for _, c := range append(visible(root), newMan(), newReference()) {
		path := c.CommandPath()
		if withoutExample[path] {
			continue
		}
		require.NotEmpty(t, c.Example, "%s has no example", path)
		t.Run(strings.ReplaceAll(path, " ", "/"), func(t *testing.T) {
			w := prepared(t, path)
			for _, line := range commandLines(c.Example) {
				command, target, _ := strings.Cut(line, " > ")
				words, err := shellwords.Parse(command)
				require.NoError(t, err)
				require.Equal(t, "elasticron", words[0], line)
				out, errOut, status := w.does(t, words[1:]...)
				require.Zero(t, status, "%s\n%s\n%s", line, errOut, out)
				if target != "" {
					require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o700))
					require.NoError(t, os.WriteFile(target, []byte(out), 0o600))
				}
				seen++
			}
		})
	}
	require.Greater(t, seen, 60)
}

// prepared returns a world with contexts, in a folder with the files that examples name.
func prepared(t *testing.T, command string) *world {
	t.Helper()
	jobs, err := os.ReadFile("testdata/jobs.yaml")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("jobs.yaml", jobs, 0o600))
	require.NoError(t, os.WriteFile("new.yaml", []byte("fresh: {config: {cron: '@daily', shardingTotalCount: 2}}\n"), 0o600))
	w := newWorld(t)
	if strings.HasPrefix(command, "elasticron migrate") { // which wants jobs that do not run, and none where they go
		file, err := seed.ParseYAML(jobs)
		require.NoError(t, err)
		from := w.zooKeeperServer.Open("shop")
		t.Cleanup(func() { require.NoError(t, from.Close(context.Background())) })
		_, err = seed.Run(t.Context(), from, file, seed.Options{})
		require.NoError(t, err)
		if command == "elasticron migrate return" || command == "elasticron migrate confirm" {
			w.must(t, "migrate", "move", "--from", "zk1:2181", "--to", "http://etcd1:2379", "--namespace", "shop", "--job", "orders", "--apply")
		}
		return w
	}
	if command == "elasticron move" { // which wants a job that nothing runs of
		return severalWorld(t)
	}
	w = newShop(t)
	w.writeHistory(t)
	hand := w.etcdServer.Open("shop")
	t.Cleanup(func() { require.NoError(t, hand.Close(context.Background())) })
	lost, err := ran(t, first, noon, jobtree.Interrupted, "").Requeue()
	require.NoError(t, err)
	text, err := jobtree.EncodeConfig(job.Config{Name: "lost", Cron: "@daily", ShardingTotalCount: 1, Failover: true})
	require.NoError(t, err)
	_, err = hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Delete("/broken/config"), registry.Put("/lost/config", text), registry.Put("/lost/sharding/0/record", jobtree.EncodeRecord(lost)),
		registry.Put("/stopped/config", strings.ReplaceAll(text, "lost", "stopped")),
	}})
	require.NoError(t, err)
	w.must(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "shop")
	w.in = strings.NewReader("correct horse battery staple\n")
	w.must(t, "context", "set", "legacy", "--zookeeper", "zk1:2181", "-n", "shop")
	return w
}

// commandLines returns the lines of an example that are commands; a backslash joins two.
func commandLines(example string) (lines []string) {
	for line := range strings.Lines(strings.ReplaceAll(example, "\\\n", " ")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTheReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	want, err := reference(newRoot(newProgram()))
	require.NoError(t, err)
	got, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	require.Equal(t, want, string(got), "go run ./cmd/elasticron reference > docs/cli.md")
}
