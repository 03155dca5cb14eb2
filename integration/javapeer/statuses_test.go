package javapeer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

const (
	javaOne = "10.0.0.1@-@41"
	javaTwo = "10.0.0.2@-@42"
	goThree = "10.0.0.3@-@7-go"
	gone    = "10.0.0.9@-@9"
)

// namespace fills jobs with what mixed clusters may leave of a job at some moment.
type namespace struct {
	*rand.Rand
	t       *testing.T
	reg     registry.Registry
	session *registry.Session
}

func (n *namespace) some() bool { return n.IntN(2) == 0 }

// job writes the tree of one job.
func (n *namespace) job(name string) {
	n.t.Helper()
	tree, items := jobtree.For(name), n.IntN(5)
	text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: "0/5 * * * * ?", ShardingTotalCount: max(1, items)})
	require.NoError(n.t, err)
	writes := []registry.Write{registry.Put(tree.Config(), text)}
	disabled := func() string { return jobtree.EncodeServer(n.IntN(3) == 0) }
	for _, id := range []string{javaOne, javaTwo, goThree} {
		if n.some() {
			continue
		}
		writes = append(writes, registry.PutOwned(tree.Instance(id), "", n.session), registry.Put(tree.Server(jobtree.ServerOf(id)), disabled()))
	}
	if n.some() {
		writes = append(writes, registry.Put(tree.Server("10.0.0.8"), disabled())) // on which nobody lives
	}
	owners := []string{javaOne, javaTwo, goThree}
	if n.IntN(3) == 0 {
		owners = append(owners, gone)
	}
	for item := range items {
		switch n.IntN(8) {
		case 0:
			writes = append(writes, registry.Put(tree.ItemRecord(item), "{}")) // and no owner
		default:
			writes = append(writes, registry.Put(tree.ItemInstance(item), owners[n.IntN(len(owners))]))
		}
		if n.IntN(4) == 0 {
			writes = append(writes, registry.PutOwned(tree.ItemRunning(item), "", n.session))
		}
		if n.IntN(4) == 0 {
			writes = append(writes, registry.Put(tree.ItemDisabled(item), ""))
		}
		if n.IntN(4) == 0 {
			writes = append(writes, registry.PutOwned(tree.ItemFailover(item), javaOne, n.session))
		}
	}
	_, err = n.reg.Commit(n.t.Context(), registry.Txn{Then: writes})
	require.NoError(n.t, err)
}

// What package operate says of a tree is what Java's own statistics say of it.
func TestStatusesAreThoseOfTheConsole(t *testing.T) {
	t.Parallel()
	cluster := javapeer.Cluster{Servers: zookeeper.Start(t).Address(), Namespace: "statuses", Session: 20 * time.Second}
	console := javapeer.Start(t).Console(cluster)
	reg, err := zkcompat.Open(t.Context(), zkcompat.Config{Servers: []string{cluster.Servers}, Namespace: cluster.Namespace, SessionTimeout: time.Minute, ConnectionTimeout: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	session, err := reg.Session(t.Context())
	require.NoError(t, err)
	const jobs = 120
	fill := namespace{Rand: rand.New(rand.NewPCG(1, 2)), t: t, reg: reg, session: session} //nolint:gosec // the same trees each time
	for i := range jobs {
		fill.job(fmt.Sprintf("job-%03d", i))
	}
	ns, err := operate.ReadNamespace(t.Context(), reg, time.Now())
	require.NoError(t, err)

	theirs, err := console.Jobs()
	require.NoError(t, err)
	ours := ns.Jobs()
	require.Len(t, theirs, jobs)
	require.Len(t, ours, jobs)
	seen := make(map[string]int)
	for i, want := range theirs {
		got := ours[i]
		seen[want.Status]++
		require.Equal(t, want, javapeer.JobInfo{
			Job: got.Job, Status: string(got.Status), Cron: got.Cron, Items: want.Items, Instances: got.Instances,
		}, "%s", got.Reasons)
		require.Equal(t, want.Status == "OK", got.Status == operate.OK)

		items, err := console.Items(want.Job)
		require.NoError(t, err)
		rows := ns.Items(want.Job)
		for _, item := range items {
			row := rows[item.Item]
			seen["item "+item.Status]++
			require.Equal(t, item.Status, string(row.Status), "%s, item %d", want.Job, item.Item)
			require.Equal(t, item.Failover, row.Failover)
			require.Equal(t, item.ServerIP, row.Server)
		}
		for _, row := range rows[len(items):] {
			require.Empty(t, row.Owner, "what Java does not list has no nodes")
		}
	}
	for _, status := range []string{"OK", "CRASHED", "DISABLED", "SHARDING_FLAG", "item DISABLED", "item RUNNING", "item SHARDING_FLAG", "item PENDING"} {
		require.Greater(t, seen[status], 2, "%s is among the cases: %v", status, seen)
	}

	servers, err := console.Servers()
	require.NoError(t, err)
	var got []javapeer.ServerInfo
	for _, row := range ns.Servers() {
		got = append(got, javapeer.ServerInfo{ServerIP: row.Server, Instances: len(row.Instances), Jobs: len(row.Jobs), Disabled: len(row.Disabled)})
	}
	require.ElementsMatch(t, servers, got)
}
