package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
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
	_, errOut, status := w.does(t, "get", "jobs", "--watch")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "name the context of one of them")
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
		"the directory is":  {"context", "set", "x", "--registries", "one=of-one", "--directory", "two"},
	} {
		_, errOut, status := w.does(t, args...)
		require.NotZero(t, status, args)
		require.Contains(t, errOut, want)
	}
}
