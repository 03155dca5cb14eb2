package failover_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// The job "orders" has four items. Item 2 belongs to the instance lost, whose session is 1, and
// survivor lives under session 2.
const (
	lost     = "10.0.0.1@-@7"
	survivor = "10.0.0.2@-@9"
	item     = 2
)

var (
	tree = jobtree.For("orders")
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	now  = noon.Add(time.Minute)
)

// stateOf is the state of a job that has these nodes. Of two with the same path the later one counts,
// so a row of a table is a common tree and what it has different.
func stateOf(common []registry.Node, different ...registry.Node) *jobtree.State {
	nodes := append(common[:len(common):len(common)], different...)
	return jobtree.StateOf("orders", registry.NewSnapshot(100, nodes))
}

// node is a persistent node that a commit created; absent, where there is none.
func node(path, value string, revision registry.Revision) registry.Node {
	return registry.Node{Path: path, Value: value, Created: revision, Revision: revision}
}

func absent(path string) registry.Node { return registry.Node{Path: path} }

func owned(path, value string, revision registry.Revision, session registry.SessionID) registry.Node {
	return registry.Node{Path: path, Value: value, Created: revision, Revision: revision, Session: session}
}

// recordNode is item 2's record, written at revision 20.
func recordNode(r jobtree.Record) registry.Node {
	return node(tree.ItemRecord(item), jobtree.EncodeRecord(r), 20)
}

// configNode is the job's configuration, written at revision 3.
func configNode(tb testing.TB, change func(*job.Config)) registry.Node {
	tb.Helper()
	return node(tree.Config(), configText(tb, change), 3)
}

func configText(tb testing.TB, change func(*job.Config)) string {
	tb.Helper()
	cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}
	cfg.Failover, cfg.FailoverScope = true, job.FailoverAssigned
	if change != nil {
		change(&cfg)
	}
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(tb, err)
	return text
}

// running is the record of an item that lost began at noon.
func running(tb testing.TB, failover bool) jobtree.Record {
	tb.Helper()
	r, err := jobtree.Record{}.Begin(jobtree.Begin{
		Instance: lost, Session: 1, Source: job.Scheduled, Fire: noon, Failover: failover, Time: noon,
	})
	require.NoError(tb, err)
	return r
}

// idle is the record of an item that lost ran at noon.
func idle(tb testing.TB) jobtree.Record {
	tb.Helper()
	r, err := running(tb, true).End(jobtree.End{Token: 18, Time: now, Outcome: jobtree.Success})
	require.NoError(tb, err)
	return r
}

// waiting is the record of an item that lost began at noon and never ended.
func waiting(tb testing.TB) jobtree.Record {
	tb.Helper()
	r, err := running(tb, true).DeclareLost(18, now, 0)
	require.NoError(tb, err)
	return r
}

// interrupted is the record of an item that lost began at noon without failover and never ended.
func interrupted(tb testing.TB) jobtree.Record {
	tb.Helper()
	r, err := running(tb, false).DeclareLost(18, now, 0)
	require.NoError(tb, err)
	return r
}

// rerun is the record of an item that an instance ran again for noon.
func rerun(tb testing.TB, instance string) jobtree.Record {
	tb.Helper()
	r, err := waiting(tb).Claim(jobtree.Claim{Instance: instance, Session: 2, Time: now})
	require.NoError(tb, err)
	r, err = r.End(jobtree.End{Token: 20, Time: now, Outcome: jobtree.Success})
	require.NoError(tb, err)
	return r
}
