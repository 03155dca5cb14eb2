package mixed

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/integration/serverprocess"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// Crons of the tests: one that goes on, and one that leaves a test alone.
const (
	everySecond = "0/1 * * * * ?"
	never       = "0 0 0 1 1 ? 2099"
)

// cluster is a job in a namespace of its own.
type cluster struct {
	t         *testing.T
	address   string
	namespace string
	job       string
	layout    jobtree.Layout // of the Java instances
	session   time.Duration  // the timeout of theirs
	tree      jobtree.Tree
	registry  registry.Registry     // of somebody who only looks, and operates
	log       *serverprocess.Output // of all Go instances, shown if the test fails
}

// newCluster makes a cluster for a job of this name, which no other test may use: a Java process has one
// instance a job.
func newCluster(t *testing.T, name string) *cluster {
	t.Helper()
	c := &cluster{t: t, address: need(t), namespace: name + "-" + strings.ToLower(rand.Text()[:8]), job: name, session: sessionTimeout, tree: jobtree.For(name), log: new(serverprocess.Output)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.log.String())
		}
	})
	c.registry = c.open(c.address)
	c.partLatches()
	t.Cleanup(func() {
		if t.Failed() {
			c.logTree()
		}
	})
	return c
}

// logTree shows the job's nodes.
func (c *cluster) logTree() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	nodes, _, err := c.registry.List(ctx, c.tree.Root())
	var tree strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&tree, "\n%s", n)
	}
	c.t.Logf("the tree (%v):%s", err, &tree)
}

// newCluster makes a cluster for a job of instances like these.
func (j java) newCluster(t *testing.T, name string) *cluster {
	t.Helper()
	c := newCluster(t, name)
	c.layout = j.layout
	return c
}

func (c *cluster) open(address string) *zkcompat.Registry {
	c.t.Helper()
	reg, err := zkcompat.Open(c.t.Context(), zkcompat.Config{
		Servers: []string{address}, Namespace: c.namespace, SessionTimeout: sessionTimeout, ConnectionTimeout: patience,
	})
	require.NoError(c.t, err)
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = reg.Close(ctx) // an outcome of tests that cut it off
	})
	return reg
}

// java is where Java finds the job.
func (c *cluster) java() javapeer.Cluster {
	return javapeer.Cluster{Servers: c.address, Namespace: c.namespace, Session: c.session}
}

// config is the job as Go declares it.
func (c *cluster) config(cron string, total int) job.Config {
	cfg := job.Config{Name: c.job, Cron: cron, ShardingTotalCount: total}
	cfg.Class = javapeer.Class
	if c.layout == jobtree.Lite {
		cfg.DaylightSaving = job.DaylightSavingQuartz
	}
	return cfg
}

// joinJava has a Java process take part, and leave when the test ends.
func (c *cluster) joinJava(p *javapeer.Peer, j javapeer.Job) string {
	c.t.Helper()
	belief, err := p.Join(c.java(), j)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = p.Console(c.java()).Shutdown(c.job, "") })
	if !j.Disabled {
		c.isUp(p, belief.Instance)
	}
	return belief.Instance
}

// isUp sees to it that a Java process that has joined takes part. Where its connection broke meanwhile, which on a busy
// machine it does, Java goes on without what it could not write: its leadership, and in 3.x its server, which it then
// holds to be disabled. Enabling it makes up for both. See docs/java.md.
func (c *cluster) isUp(p *javapeer.Peer, instance string) {
	c.t.Helper()
	ip, _, _ := strings.Cut(instance, "@-@")
	up := func(s *jobtree.State) bool {
		shutOut := func(server jobtree.Server) bool { return server.IP == ip && server.Disabled }
		return s.Leader.Instance != "" && !slices.ContainsFunc(s.Servers, shutOut)
	}
	for range 3 {
		if c.within(2*sessionTimeout, up) {
			return
		}
		c.t.Logf("%s lost its connection as it joined, and is enabled again", instance)
		require.NoError(c.t, p.Console(c.java()).Enable(c.job, ip))
	}
	c.eventually("Java is up", up)
}

// state returns what the tree says now.
func (c *cluster) state() *jobtree.State {
	c.t.Helper()
	nodes, revision, err := c.registry.List(c.t.Context(), c.tree.Root())
	require.NoError(c.t, err)
	if c.layout == jobtree.ElasticJob3 {
		return jobtree.ElasticJob3StateOf(c.job, registry.NewSnapshot(revision, nodes))
	}
	return jobtree.SharedStateOf(c.job, registry.NewSnapshot(revision, nodes))
}

// eventually waits until the tree is as asked for, and says what it was waiting for if it never is.
func (c *cluster) eventually(what string, holds func(*jobtree.State) bool) *jobtree.State {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(tick) {
		s := c.state()
		if holds(s) {
			return s
		}
		if time.Now().After(deadline) {
			require.Fail(c.t, "waited in vain", "%s; leader %s, necessary %d, instances %+v, servers %+v, owners %v",
				what, s.Leader.Instance, s.Necessary, s.Instances, s.Servers, ownersOf(s))
		}
	}
}

// within tells whether the tree is as asked for at some moment of a span.
func (c *cluster) within(span time.Duration, holds func(*jobtree.State) bool) bool {
	for deadline := time.Now().Add(span); !holds(c.state()); time.Sleep(tick) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// ownersOf lists the owner of each item.
func ownersOf(s *jobtree.State) []string {
	owners := make([]string, s.Total())
	for item := range owners {
		owners[item] = s.Owner(item)
	}
	return owners
}

// settled tells whether the job has so many items, each with a live owner, that these instances share.
func settled(total int, instances ...string) func(*jobtree.State) bool {
	slices.Sort(instances)
	return func(s *jobtree.State) bool {
		owners := ownersOf(s)
		slices.Sort(owners)
		owners = slices.Compact(owners)
		return s.Total() == total && s.Necessary == 0 && slices.Equal(owners, instances)
	}
}

func (c *cluster) do(writes ...registry.Write) {
	c.t.Helper()
	_, err := c.registry.Commit(c.t.Context(), registry.Txn{Then: writes})
	require.NoError(c.t, err)
}

// begins returns the items that began in a Java process, by number of times.
func begins(events []javapeer.Event) map[int]int {
	times := make(map[int]int)
	for _, e := range events {
		if e.Kind == javapeer.EventBegin {
			times[e.Item]++
		}
	}
	return times
}

// began tells whether an item began in a Java process more than so many times.
func began(item, more int) func([]javapeer.Event) bool {
	return func(events []javapeer.Event) bool { return begins(events)[item] > more }
}

func isJava(id string) bool { return !strings.HasPrefix(id, ipGo+"@-@") }

// change stores other settings, as an operator of ours does.
func (c *cluster) change(change func(*job.Config)) {
	c.t.Helper()
	cfg := c.state().Config.Value
	change(&cfg)
	text, err := c.layout.EncodeConfig(cfg)
	require.NoError(c.t, err)
	c.do(registry.Put(c.tree.Config(), text))
}

// goLeads waits until the Go instance leads: joining and leading are two steps.
func (c *cluster) goLeads() {
	c.t.Helper()
	c.eventually("Go leads", func(s *jobtree.State) bool { return s.Leader.Instance == goID })
}
