package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// severalWorld has a context "all" of three registries. That of each is a namespace of the same server.
func severalWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, name := range []string{"one", "two", "three"} {
		w.must(t, "context", "set", "of-"+name, "--etcd", "http://etcd", "--namespace", name)
	}
	w.must(t, "context", "set", "all", "--registries", "one=of-one,two=of-two,three=of-three", "--directory", "one")
	w.must(t, "context", "use", "all")
	for name, registryName := range map[string]string{"orders": "one", "mail": "two", "report": "three"} {
		text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: "@hourly", ShardingTotalCount: 2})
		require.NoError(t, err)
		w.store(t, registryName, name, text)
		if registryName != "one" {
			w.store(t, "one", name, jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: registryName}))
		}
	}
	return w
}

func (w *world) store(t *testing.T, namespace, name, text string) {
	t.Helper()
	reg := w.etcdServer.Open(namespace)
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(jobtree.For(name).Config(), text)}})
	require.NoError(t, err)
}

func TestSeveralRegistriesAreShownAsOne(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	out := w.must(t, "get", "jobs")
	for name, at := range map[string]string{"orders": "one", "mail": "two", "report": "three"} {
		require.Regexp(t, `(?m)^`+name+` +`+at+` `, out)
	}
	require.Regexp(t, "^NAME +REGISTRY +STATUS", out)
	var listed struct {
		Jobs []struct{ Job, Registry string }
	}
	require.NoError(t, json.Unmarshal([]byte(w.must(t, "get", "jobs", "-o", "json")), &listed))
	require.Len(t, listed.Jobs, 3)
	require.Equal(t, "two", listed.Jobs[0].Registry)
	require.Contains(t, w.must(t, "describe", "job/report"), "report")
	require.Contains(t, w.must(t, "context", "list"), "several one,three,two")

	w.must(t, "disable", "job/mail")
	require.Contains(t, w.must(t, "get", "operations", "mail", "--context", "of-two"), "disable")
	_, errOut, status := w.does(t, "server")
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "want that of one of them, of-one, of-three, of-two")
}

// A list that is watched follows every registry, and a job that moves; one that is away is named before the list and in the
// end.
func TestWatchSeveralRegistries(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		w := severalWorld(t)
		if away {
			w.must(t, "context", "set", "of-three", "--etcd", "http://nowhere")
		}
		out, errOut, stop := w.watches(t, []string{"get", "jobs", "--watch"})
		sees := func(row string) {
			t.Helper()
			matches := func() bool { return regexp.MustCompile(row).MatchString(out.String()) }
			require.Eventually(t, matches, time.Minute, time.Millisecond, "%s\n%s", row, errOut)
		}
		sees(`^NAME +REGISTRY +STATUS`)
		require.Equal(t, away, strings.Contains(errOut.String(), "the jobs of registry three are left out"))
		sees(`(?m)^orders +one `)
		sees(`(?m)^mail +two `)
		_, told, status := w.does(t, "move", "orders", "--to", "two")
		require.Zero(t, status, told)
		sees(`(?m)^orders +two `)
		_, told, status = w.does(t, "move", "mail", "--to", "one")
		require.Zero(t, status, told)
		sees(`(?m)^mail +one `)
		status = stop()
		if !away {
			require.Zero(t, status, errOut.String())
			require.Contains(t, out.String(), "report")
			continue
		}
		require.Equal(t, exitFailed, status)
		require.NotContains(t, out.String(), "report")
		require.Contains(t, errOut.String(), "the jobs of registry three are left out")
	}
}

// A job that two registries have runs in both. Lists show it once, and say so; what is about one other job does not.
func TestAJobThatTwoRegistriesHaveIsNamed(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "@hourly", ShardingTotalCount: 2})
	require.NoError(t, err)
	w.store(t, "two", "orders", text)
	for _, list := range [][]string{{"get", "jobs"}, {"export"}} {
		out, errOut, status := w.does(t, list...)
		require.Equal(t, exitFailed, status)
		require.Len(t, regexp.MustCompile(`(?m)^orders\b`).FindAllString(out, -1), 1, out)
		require.Contains(t, out, "mail")
		require.Contains(t, errOut, `job "orders" is in the registries one, two, and runs in each: remove it from all but one`)
	}
	w.must(t, "disable", "job/mail")
	w.must(t, "get", "jobs", "--context", "of-two")

	out, _, _ := w.does(t, "__complete", "describe", "")
	require.Contains(t, out, "job/mail", "a shell offers names all the same")
	out, errOut, status := w.does(t, "enable", "--match", "mai*", "--yes") // which is done, and no script need try it again
	require.Equal(t, exitOK, status, errOut)
	require.Contains(t, out, "1 of 1 jobs")
	require.Contains(t, errOut, `elasticron: job "orders" is in the registries one, two, and runs in each: `)
	w.must(t, "disable", "job/orders", "--context", "of-two")
	_, errOut, status = w.does(t, "get", "jobs")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, `job "orders" is in the registries one, two (disabled): remove it from all but one`)
}

// A job that moves between two registries while they are listed is in one of them.
func TestAJobThatMovesWhileItIsListedIsInOneRegistry(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "@hourly", ShardingTotalCount: 2})
	require.NoError(t, err)
	put := func(namespace, value string) {
		reg := server.Open(namespace)
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(jobtree.For("orders").Config(), value)}})
		require.NoError(t, err)
	}
	put("one", text)
	listed, moved := make(chan struct{}), make(chan struct{})
	all, err := registriesOf("one", []string{"one", "two"}, func(_ context.Context, name string) (registry.Registry, error) {
		if name == "one" {
			return &listedOnce{Registry: server.Open(name), after: sync.OnceFunc(func() { close(listed) })}, nil
		}
		return &listedOnce{Registry: server.Open(name), before: sync.OnceFunc(func() { <-moved })}, nil
	})
	require.NoError(t, err)
	go func() {
		<-listed
		put("one", jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "two"}))
		put("two", text)
		close(moved)
	}()
	_, _, err = all.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.NoError(t, all.doubled())
	require.Equal(t, "two", all.registryOf("orders"))
	require.NoError(t, all.Close(t.Context()))
}

// listedOnce does something before or after a list.
type listedOnce struct {
	registry.Registry
	before, after func()
}

func (l *listedOnce) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	if l.before != nil {
		l.before()
	}
	nodes, revision, err := l.Registry.List(ctx, path)
	if l.after != nil {
		l.after()
	}
	return nodes, revision, err
}

// The registry that jobs have left is exported without them, and without a fault.
func TestAnExportOfARegistryThatJobsHaveLeft(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	out := w.must(t, "--context", "of-one", "export")
	require.Contains(t, out, "orders:")
	require.NotContains(t, out, "mail")
	_, errOut, status := w.does(t, "--context", "of-one", "export", "orders", "mail")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, `no job "mail" here: its home is registry "two"`)
	out = w.must(t, "export")
	require.Contains(t, out, "mail:")
}

// What is away is named, and hides nothing else; what concerns other jobs is done.
func TestARegistryThatIsAwayIsNamed(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	w.must(t, "context", "set", "of-three", "--etcd", "http://nowhere")
	out, errOut, status := w.does(t, "get", "jobs")
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "orders")
	require.Contains(t, out, "mail")
	require.NotContains(t, out, "report")
	require.Contains(t, errOut, "the jobs of registry three are left out")
	w.must(t, "disable", "job/orders")
	_, errOut, status = w.does(t, "disable", "job/report")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "registry three is away")
}

// What is not found may be in the registry that is away.
func TestWhatIsNotFoundMayBeInARegistryThatIsAway(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	w.must(t, "context", "set", "of-three", "--etcd", "http://nowhere")
	for _, args := range [][]string{
		{"shutdown", "instance/X", "--yes"},
		{"disable", "server/10.9.9.9", "--yes"},
		{"disable", "--match", "q*"},
		{"describe", "instance/X"},
		{"get", "jobs", "q"},
		{"export", "q"},
		{"audit", "q"},
	} {
		_, errOut, status := w.does(t, args...)
		require.Equal(t, exitFailed, status, "%s: %s", args, errOut)
		require.Equal(t, 1, strings.Count(errOut, "the jobs of registry three are left out"), "%s: %s", args, errOut)
		require.NotRegexp(t, "^elasticron: the jobs", errOut, "%s", args)
	}
	_, errOut, status := w.does(t, "get", "jobs", "--status", "wrong")
	require.Equal(t, exitMisuse, status)
	require.NotContains(t, errOut, "registry three")
}

func TestMoveBetweenRegistries(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	foretold, _, status := w.does(t, "move", "orders", "--to", "two", "--dry-run")
	require.Zero(t, status)
	require.Contains(t, foretold, "would be moved from one to two")
	require.Regexp(t, `(?m)^orders +one `, w.must(t, "get", "jobs"))
	out, errOut, status := w.does(t, "move", "orders", "--to", "two", "--reason", "one is full")
	require.Zero(t, status, errOut)
	require.Contains(t, out, "orders has moved from one to two")
	require.Contains(t, errOut, "copying it to two")
	require.Regexp(t, `(?m)^orders +two `, w.must(t, "get", "jobs"))
	require.Contains(t, w.must(t, "get", "operations", "orders", "-o", "json"), "one is full")
	require.Contains(t, w.must(t, "move", "orders", "--to", "two"), "orders is in two")
	require.NotContains(t, w.must(t, "get", "jobs", "--context", "of-one"), "orders")
	for want, args := range map[string][]string{
		"--to is missing":   {"move", "orders"},
		"has one registry":  {"move", "orders", "--to", "two", "--context", "of-one"},
		`registry "four"`:   {"move", "orders", "--to", "four"},
		"--timeout is -1s":  {"move", "orders", "--to", "two", "--timeout", "-1s"},
		"no registry knows": {"move", "nobody", "--to", "two"},
		`registry "one" is named twice, with the contexts "of-one" and "of-two"`: {"context", "set", "x", "--registries", "one=of-one,one=of-two", "--directory", "one"},
		`registry "one" is named twice`:                                          {"context", "set", "x", "--registries", "one=of-one", "--registries", "one=of-two", "--directory", "one"},
		`"two" is given, want a name and a context`:                              {"context", "set", "x", "--registries", "one=of-one,two", "--directory", "one"},
		"the directory is": {"context", "set", "x", "--registries", "one=of-one", "--directory", "two"},
	} {
		_, errOut, status := w.does(t, args...)
		require.NotZero(t, status, args)
		require.Contains(t, errOut, want)
	}
}

// A job that was removed is stored again where it was, and not in the directory.
func TestARemovedJobIsStoredAgainInItsRegistry(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	kept := filepath.Join(t.TempDir(), "kept.yaml")
	w.must(t, "remove", "mail", "--yes", "--export", kept)
	require.NotContains(t, w.must(t, "get", "jobs"), "mail")
	for _, args := range [][]string{{"diff", "-f", kept}, {"apply", "-f", kept, "--dry-run"}} {
		out, errOut, _ := w.does(t, args...)
		require.Contains(t, out+errOut, "+ mail")
		require.NotContains(t, out+errOut, "cannot be read")
	}
	for _, verb := range []string{"apply", "create"} {
		_, errOut, status := w.does(t, verb, "-f", kept, "--yes")
		require.Zero(t, status, errOut)
		require.Regexp(t, `(?m)^mail +two `, w.must(t, "get", "jobs"))
		w.must(t, "remove", "mail", "--yes", "--export", "none")
	}
}

// All that an export of several registries has is compared, and a registry's job is no surplus of another one.
func TestDiffOfSeveralRegistriesShowsAll(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	kept := filepath.Join(t.TempDir(), "kept.yaml")
	require.NoError(t, os.WriteFile(kept, []byte(w.must(t, "export")), 0o600))
	require.Empty(t, w.must(t, "diff", "-f", kept, "--all", "--exit-code"))
	require.NoError(t, os.WriteFile(kept, []byte(w.must(t, "export", "orders")), 0o600))
	require.Contains(t, w.must(t, "diff", "-f", kept, "--all"), "- mail  config  ")
	require.NotContains(t, w.must(t, "diff", "-f", kept, "--all"), "orders")
}

// The namespace of a context of several registries is that of each, before that of its own context.
func TestANamespaceOfSeveralRegistries(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "@daily", ShardingTotalCount: 1})
	require.NoError(t, err)
	w.store(t, "staging", "orders", text)
	w.must(t, "context", "set", "staged", "--registries", "one=of-one", "--directory", "one", "--namespace", "staging")
	require.Contains(t, w.must(t, "describe", "job/orders", "--context", "staged"), "@daily")
	require.Contains(t, w.must(t, "describe", "job/orders", "--context", "staged", "--namespace", "one"), "@hourly")
	w.must(t, "remove", "orders", "--yes", "--context", "staged")
	require.NotContains(t, w.must(t, "get", "jobs", "--context", "staged"), "orders")
	require.Contains(t, w.must(t, "get", "jobs"), "orders")
}

// What cannot be one of several registries is named: one that Java may share, and a server.
func TestWhatCannotBeOneOfSeveral(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	open := w.zooKeeper
	w.zooKeeper = func(ctx context.Context, c zkcompat.Config) (registry.Registry, error) {
		reg, err := open(ctx, c)
		return ofJava{reg}, err
	}
	w.must(t, "context", "set", "of-two", "--zookeeper", "zk:2181", "--namespace", "two")
	out, errOut, status := w.does(t, "get", "jobs")
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "orders")
	require.Contains(t, errOut, "registry two")
	require.Contains(t, errOut, "Java instances may take part")

	w.must(t, "context", "set", "through", "--server", "http://server", "--namespace", "two")
	w.must(t, "context", "set", "wrong", "--registries", "one=of-one,two=through", "--directory", "one")
	_, errOut, status = w.does(t, "get", "jobs", "--context", "wrong")
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, `registry two is that of the context "through", which goes through a server`)
}

// ofJava is a registry that Java instances may share.
type ofJava struct{ registry.Registry }

func (ofJava) JavaLayout() (root string, ok bool) { return "/shop", true }

// A registry that takes long to be opened does not hold up the others.
func TestSeveralRegistriesAreOpenedSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		all, err := registriesOf("one", []string{"one", "three", "two"}, func(ctx context.Context, name string) (registry.Registry, error) {
			time.Sleep(10 * time.Second)
			return nil, registry.ErrUnavailable
		})
		require.NoError(t, err)
		_, _, err = all.List(t.Context(), registry.Root)
		require.ErrorIs(t, err, home.ErrAway)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.NoError(t, all.Close(t.Context()))
	})
}

// What is watched has the jobs of a registry that did not answer at first from when it does. One that never does holds up
// neither the others nor the end.
func TestARegistryThatAnswersLaterIsFollowedFromThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		up := time.Now().Add(12 * time.Second)
		all, err := registriesOf("one", []string{"one", "three", "two"}, func(ctx context.Context, name string) (registry.Registry, error) {
			switch {
			case name == "two":
				return nil, registry.ErrUnavailable
			case name == "three" && time.Now().Before(up):
				return nil, registry.ErrUnavailable
			}
			return server.Open(name), nil
		})
		require.NoError(t, err)
		text, err := jobtree.EncodeConfig(job.Config{Name: "report", Cron: "@hourly", ShardingTotalCount: 2})
		require.NoError(t, err)
		three := server.Open("three")
		_, err = three.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/report/config", text)}})
		require.NoError(t, err)
		require.NoError(t, three.Close(t.Context()))

		began := time.Now()
		f, err := all.follow(t.Context())
		require.NoError(t, err)
		require.False(t, f.now().Get("/report/config").Exists())
		require.ErrorContains(t, all.lacking(nil), "registry three are left out")
		require.NoError(t, f.newer(t.Context()))
		require.Equal(t, text, f.now().Get("/report/config").Value)
		require.Equal(t, "three", all.registryOf("report"))
		require.Equal(t, 15*time.Second, time.Since(began))
		require.NotContains(t, all.lacking(nil).Error(), "registry three")
		require.ErrorContains(t, all.lacking(nil), "registry two are left out")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, f.newer(ctx), context.DeadlineExceeded)
		f.close()
		require.NoError(t, all.Close(t.Context()))
	})
}

// Who asks a registry for a job whose home is another one is told which.
func TestAJobThatIsElsewhere(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	for name, word := range map[string]jobtree.Elsewhere{
		"arrives": {Home: "two", Move: "X", Arriving: true},
		"leaves":  {Home: "two", Move: "X", Config: "{}"},
	} {
		w.store(t, "one", name, jobtree.EncodeElsewhere(word))
	}
	for name, says := range map[string]string{
		"mail":    `no job "mail" here: its home is registry "two"`,
		"arrives": `no job "arrives" here yet: it is being moved here from registry "two"`,
	} {
		for _, args := range [][]string{{"describe", "job/" + name}, {"next", name}, {"get", "jobs", name}, {"get", "items", name}} {
			_, errOut, status := w.does(t, append(args, "--context", "of-one")...)
			require.Equal(t, exitFailed, status, args)
			require.Contains(t, errOut, says, args)
		}
	}
	for name, says := range map[string]string{
		"mail": `the job's home is registry "two"; operate it in registry "two"`, "arrives": `the job is being moved here from registry "two"`, "leaves": `the job is being moved to registry "two"`,
	} {
		_, errOut, status := w.does(t, "edit", name, "--set", "cron=@daily", "--yes", "--context", "of-one")
		require.Equal(t, exitRefused, status, errOut)
		require.Contains(t, errOut, says)
	}
}

// Who triggers a job that is stopped for its move is not told to replace a trigger.
func TestATriggerOfAJobThatIsStoppedForItsMove(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "@hourly", ShardingTotalCount: 2, Disabled: true})
	require.NoError(t, err)
	reg := w.etcdServer.Open("one")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(jobtree.For("orders").Config(), text),
		registry.Put(jobtree.For("orders").Operated(), jobtree.EncodeOperated(jobtree.Operated{Moving: &jobtree.Moving{To: "two", Move: "X"}})),
	}})
	require.NoError(t, err)
	_, errOut, status := w.does(t, "trigger", "orders")
	require.Equal(t, exitRefused, status, errOut)
	require.Contains(t, errOut, "complete the move with elasticron move")
	require.NotContains(t, errOut, "--replace")
}

// betweenLists has something happen between two lists: of the registry that is listed, and of one that waits for that.
type betweenLists struct {
	registry.Registry
	before func(context.Context)
	after  func()
}

func (b *betweenLists) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	if b.before != nil && path == registry.Root {
		b.before(ctx)
	}
	nodes, revision, err := b.Registry.List(ctx, path)
	if b.after != nil && path == registry.Root {
		b.after()
	}
	return nodes, revision, err
}

// movesWhileListed moves mail from two to one when one was listed and before two is.
func movesWhileListed(t *testing.T, w *world) {
	t.Helper()
	mover, open := *w.program, w.etcd
	listed := make(chan struct{})
	var one, two sync.Once
	w.etcd = func(ctx context.Context, c etcd.Config) (registry.Registry, error) {
		reg, err := open(ctx, c)
		switch {
		case err != nil:
		case c.Namespace == "one":
			reg = &betweenLists{Registry: reg, after: func() { one.Do(func() { close(listed) }) }}
		case c.Namespace == "two":
			reg = &betweenLists{Registry: reg, before: func(ctx context.Context) {
				<-listed
				two.Do(func() {
					var out, errOut bytes.Buffer
					if mover.run(ctx, []string{"move", "mail", "--to", "one"}, &out, &errOut) != exitOK {
						t.Error(errOut.String())
					}
				})
			}}
		}
		return reg, err
	}
}

// A job that moves between the lists of two registries is in what is about all jobs.
func TestAJobMovesWhileAllAreListed(t *testing.T) {
	t.Parallel()
	t.Run("export", func(t *testing.T) {
		t.Parallel()
		w := severalWorld(t)
		movesWhileListed(t, w)
		out := w.must(t, "export")
		for _, job := range []string{"mail", "orders", "report"} {
			require.Contains(t, out, job+":")
		}
	})
	t.Run("in all jobs", func(t *testing.T) {
		t.Parallel()
		w := severalWorld(t)
		for namespace, job := range map[string]string{"one": "orders", "two": "mail", "three": "report"} {
			reg := w.etcdServer.Open(namespace)
			put(t, reg, "/"+job+"/servers/10.0.0.9", "")
			require.NoError(t, reg.Close(context.Background()))
		}
		movesWhileListed(t, w)
		out, errOut, status := w.does(t, "disable", "server/10.0.0.9", "--yes")
		require.Zero(t, status, errOut)
		require.Contains(t, out, "3 of 3 jobs")
	})
}
