package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/integration/serverprocess"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

var noon = time.Date(2026, 3, 2, 12, 0, 3, 0, time.UTC)

// world is the program with registries in memory: one where etcd is expected, one for ZooKeeper.
type world struct {
	*program
	etcdServer, zooKeeperServer *memory.Server
	variables                   map[string]string
	mu                          sync.Mutex // guards what comes next while commands run at the same time
	asked                       struct {   // how the program connected last
		etcd      etcd.Config
		zooKeeper zkcompat.Config
	}
}

// askedPassword is the password by which the program logs in to etcd now.
func (w *world) askedPassword(t *testing.T) string {
	t.Helper()
	if w.asked.etcd.PasswordFunc == nil {
		return w.asked.etcd.Password
	}
	password, err := w.asked.etcd.PasswordFunc(t.Context())
	require.NoError(t, err)
	return password
}

// watches runs a command that follows something, until it is stopped, which gives its status.
func (w *world) watches(t *testing.T, args []string) (out, errOut *serverprocess.Output, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, errOut = new(serverprocess.Output), new(serverprocess.Output)
	done := make(chan int, 1)
	go func() { done <- w.run(ctx, args, out, errOut) }()
	return out, errOut, func() int { cancel(); return <-done }
}

// lasting is for handles that keep their sessions on a machine that is busy.
var lasting = memory.WithTTL(time.Hour)

// newWorld returns a world in which the time is noon, whose contexts are in a folder of the test's own.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		etcdServer: memory.NewServer(), zooKeeperServer: memory.NewServer(),
		variables: map[string]string{"USER": "anna", contextsFileVariable: filepath.Join(t.TempDir(), "contexts", "c.yaml")},
	}
	w.program = &program{
		etcd: func(_ context.Context, c etcd.Config) (registry.Registry, error) {
			w.mu.Lock()
			w.asked.etcd = c
			w.mu.Unlock()
			if c.Endpoints[0] == "http://nowhere" {
				return nil, errors.New("no answer from http://nowhere")
			}
			return w.etcdServer.Open(c.Namespace, lasting), nil
		},
		zooKeeper: func(_ context.Context, c zkcompat.Config) (registry.Registry, error) {
			w.mu.Lock()
			w.asked.zooKeeper = c
			w.mu.Unlock()
			return w.zooKeeperServer.Open(c.Namespace, lasting), nil
		},
		now: func() time.Time { return noon },
		env: func(name string) string { return w.variables[name] },
		in:  strings.NewReader(""), asked: func(any) bool { return false },
		pause: time.Hour, // a slow machine says no more than a fast one
	}
	return w
}

// does carries out a command line on the namespace shop of etcd, unless it says something else.
func (w *world) does(t *testing.T, args ...string) (out, errOut string, status int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = w.run(t.Context(), args, &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}

// must is does for what has to be done without a word of error.
func (w *world) must(t *testing.T, args ...string) string {
	t.Helper()
	out, errOut, status := w.does(t, args...)
	require.Zero(t, status, errOut)
	require.Empty(t, errOut)
	return out
}

// on returns the command line with the flags of the fixture.
func on(args ...string) []string { return append(args, "--etcd", "http://e1:2379", "-n", "shop") }

const (
	first  = "10.0.0.1@-@7-a"
	second = "10.0.0.2@-@7-b"
)

// shop fills a namespace: orders is fine, mail is overdue and failed, nightly is disabled, broken cannot be used.
func shop(tb testing.TB, reg registry.Registry) {
	tb.Helper()
	session, err := reg.Session(tb.Context())
	require.NoError(tb, err)
	var writes []registry.Write
	put := func(path, value string) { writes = append(writes, registry.Put(path, value)) }
	own := func(path, value string) { writes = append(writes, registry.PutOwned(path, value, session)) }
	add := func(c job.Config, owners ...string) jobtree.Tree {
		tree := jobtree.For(c.Name)
		text, err := jobtree.EncodeConfig(c)
		require.NoError(tb, err)
		put(tree.Config(), text)
		for n, owner := range owners {
			put(tree.ItemInstance(n), owner)
		}
		return tree
	}
	members := func(tree jobtree.Tree) {
		own(tree.Instance(first), "")
		own(tree.Instance(second), "")
		own(tree.Leader(), first)
	}
	fire := noon.Truncate(time.Minute)

	orders := add(job.Config{
		Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 2, Failover: true, TimeZone: "Europe/Berlin", JobParameter: "secret",
	}, first, second)
	members(orders)
	put(orders.ItemRecord(0), jobtree.EncodeRecord(ran(tb, first, fire, jobtree.Success, "")))
	put(orders.ItemRecord(1), jobtree.EncodeRecord(ran(tb, second, fire, jobtree.Success, "")))

	mail := add(job.Config{Name: "mail", Cron: "0 0/2 * * * ?", ShardingTotalCount: 2}, first, second)
	members(mail)
	put(mail.ItemRecord(0), jobtree.EncodeRecord(ran(tb, first, fire, jobtree.Success, "")))
	put(mail.ItemRecord(1), jobtree.EncodeRecord(ran(tb, second, fire.Add(-10*time.Minute), jobtree.Failure, "exit 3\x1b[31m")))
	put(mail.ItemDisabled(0), "")

	nightly := add(job.Config{Name: "nightly", Cron: "0 30 2 ? * MON-FRI", ShardingTotalCount: 1}, first)
	members(nightly)
	put(nightly.Server("10.0.0.1"), "DISABLED")
	put(nightly.Server("10.0.0.2"), "DISABLED")
	put(nightly.Server("10.0.0.3"), "DISABLED")

	put(jobtree.For("broken").Config(), "{")
	_, err = reg.Commit(tb.Context(), registry.Txn{Then: writes})
	require.NoError(tb, err)
}

// ran returns the record of an item that ran once.
func ran(tb testing.TB, instance string, fire time.Time, outcome jobtree.Outcome, text string) jobtree.Record {
	tb.Helper()
	r, err := jobtree.Record{}.Begin(jobtree.Begin{
		Instance: instance, Session: 7, Source: job.Scheduled, Fire: fire, Round: "r", Time: fire.Add(20 * time.Millisecond),
	})
	require.NoError(tb, err)
	r, err = r.End(jobtree.End{Token: 41, Time: fire.Add(time.Second), Outcome: outcome, Error: text})
	require.NoError(tb, err)
	return r
}

// writeHistory has outputs of the shop's executions in a history, which the environment names.
func (w *world) writeHistory(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history.db")
	store, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	begin := noon.Truncate(time.Minute).Add(20 * time.Millisecond)
	for _, o := range []history.Output{
		{ID: "o1", Job: "orders", Item: 0, Token: 40, Start: begin.Add(-time.Minute), Bytes: 6, Text: "older\n"},
		{ID: "o2", Job: "orders", Item: 0, Token: 41, Start: begin, Bytes: 90, Text: "one\ntwo\x1b[31m\nthree"},
		{ID: "o3", Job: "orders", Item: 1, Token: 41, Start: begin, Bytes: 5, Text: "item1"},
		{ID: "o4", Job: "silent", Item: 2, Token: 41, Start: begin},
	} {
		require.NoError(t, store.KeepOutput(t.Context(), o, 9))
	}
	w.variables[historyVariable] = file
}

// newShop is a world with a filled namespace on both registries.
func newShop(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, server := range []*memory.Server{w.etcdServer, w.zooKeeperServer} {
		reg := server.Open("shop", lasting)
		t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
		shop(t, reg)
	}
	return w
}
