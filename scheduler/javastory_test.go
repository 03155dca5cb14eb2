package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// What the stories about Java instances are told with. Where a test has none, it writes what one would write.
// Package mixed has real ones.

// orders are the paths of the job of these stories.
var orders = jobtree.For("orders")

// The instance ids of Java instances.
const (
	javaID       = "10.0.0.9@-@7"
	secondJavaID = "10.0.0.8@-@7" // on a server of its own
	lastJavaID   = "10.0.0.0@-@7" // which comes after those of ours when items are assigned
)

// sharedJob is [jobOf] as Java instances can read it.
func sharedJob(total int) job.Config {
	cfg := jobOf(total)
	cfg.Class = "com.acme.Orders"
	return cfg
}

// javasOwn is [sharedJob] with a strategy that only Java has, so that a test can assign items as it likes.
func javasOwn(total int) job.Config { return asAssigned(sharedJob(total)) }

func asAssigned(cfg job.Config) job.Config {
	cfg.ShardingStrategy = "com.acme.OwnStrategy"
	return cfg
}

func failingOver(total int) job.Config {
	cfg := sharedJob(total)
	cfg.Failover = true
	return cfg
}

// onceADay fires at second 10 of each day.
const onceADay = "10 0 0 * * ?"

// daily is [failingOver] with a day between two fires: what waits for one waits too long.
func daily(total int) job.Config {
	cfg := failingOver(total)
	cfg.Cron = onceADay
	return cfg
}

// dailyAsAssigned is [daily] with a strategy that only Java has, so that a test can assign items as it likes.
func dailyAsAssigned(total int) job.Config { return asAssigned(daily(total)) }

// startShared starts an instance of ours that knows of the Java instances.
func (c *cluster) startShared(id string, work job.HandlerFunc, configs ...job.Config) *instance {
	c.t.Helper()
	return c.startWith(id, work, []scheduler.Option{scheduler.WithJavaPeers()}, configs...)
}

// javaLayout is a registry in which Java instances may take part, as package zkcompat is.
type javaLayout struct{ *memory.Registry }

func (javaLayout) JavaLayout() (string, bool) { return "/test", true }

// unaware makes a scheduler over such a registry that is not told of Java instances.
func (c *cluster) unaware() *scheduler.Scheduler {
	c.t.Helper()
	reg := c.server.Open("test")
	c.t.Cleanup(func() { _ = reg.Close(context.Background()) })
	s, err := scheduler.New(javaLayout{reg}, scheduler.WithInstanceID(fullID("a")))
	require.NoError(c.t, err)
	return s
}

// java is a Java instance, or who else writes as Java does.
type java struct {
	t        *testing.T
	registry *memory.Registry
	session  *registry.Session
}

// java connects one, which takes no part yet.
func (c *cluster) java(opts ...memory.Option) *java {
	c.t.Helper()
	reg := c.server.Open("test", opts...)
	c.t.Cleanup(func() { _ = reg.Close(context.Background()) })
	session, err := reg.Session(c.t.Context())
	require.NoError(c.t, err)
	return &java{c.t, reg, session}
}

// javaJoins connects one that takes part.
func (c *cluster) javaJoins(id string, opts ...memory.Option) *java {
	c.t.Helper()
	j := c.java(opts...)
	j.joinAs(id)
	return j
}

// javaLeads connects one that stores the job and leads it.
func (c *cluster) javaLeads(cfg job.Config) *java {
	c.t.Helper()
	j := c.java()
	j.store(cfg)
	j.lead()
	j.join()
	return j
}

func (j *java) do(writes ...registry.Write) {
	j.t.Helper()
	_, err := j.registry.Commit(j.t.Context(), registry.Txn{Then: writes})
	require.NoError(j.t, err)
}

func (j *java) store(cfg job.Config) { j.do(registry.Put(orders.Config(), mustEncode(cfg))) }

func (j *java) join() { j.joinAs(javaID) }

func (j *java) joinAs(id string) {
	j.t.Helper()
	j.do(registry.Put(orders.Server(jobtree.ServerOf(id)), ""))
	j.do(registry.PutOwned(orders.Instance(id), "", j.session))
	j.ask()
}

// ask asks for a resharding.
func (j *java) ask() { j.do(registry.Put(orders.Necessary(), "")) }

func (j *java) lead() { j.do(registry.PutOwned(orders.Leader(), javaID, j.session)) }

// leave takes the instance away, as a shutdown does, and comeBack makes it anew, as a reconnection does.
func (j *java) leave() { j.do(registry.Delete(orders.Instance(javaID))) }

func (j *java) comeBack() { j.do(registry.PutOwned(orders.Instance(javaID), "", j.session)) }

// leaveAndAsk is what others see at once of one that leaves.
func (j *java) leaveAndAsk() {
	j.do(registry.Delete(orders.Instance(javaID)), registry.Put(orders.Necessary(), ""))
}

// vanish ends the instance without a word.
func (j *java) vanish() { j.registry.Vanish() }

// reshard assigns items to instances as a Java leader does, in its three steps.
func (j *java) reshard(before int, owners ...string) {
	j.t.Helper()
	j.beginAssigning()
	for item := range before {
		j.do(registry.Delete(orders.ItemInstance(item)))
	}
	writes := []registry.Write{registry.Delete(orders.Necessary()), registry.Delete(orders.Processing())}
	for item, owner := range owners {
		writes = append(writes, registry.Put(orders.ItemInstance(item), owner))
	}
	j.do(writes...)
}

func (j *java) beginAssigning() { j.do(registry.PutOwned(orders.Processing(), "", j.session)) }

func (j *java) endAssigning() { j.do(registry.Delete(orders.Processing())) }

// begin and end are those of a run of an item.
func (j *java) begin(item int) { j.do(registry.PutOwned(orders.ItemRunning(item), "", j.session)) }

func (j *java) end(item int) { j.do(registry.Delete(orders.ItemRunning(item))) }

// takeOver runs a lost execution of the first item again, and endTakenOver ends that.
func (j *java) takeOver() {
	j.do(registry.PutOwned(orders.ItemFailover(0), javaID, j.session))
	j.begin(0)
}

func (j *java) endTakenOver() {
	j.end(0)
	j.do(registry.Delete(orders.ItemFailover(0)))
}

// stuck is work that ends only when its context does.
func stuck(ctx context.Context, _ job.ShardingContext) error {
	<-ctx.Done()
	return ctx.Err()
}

// lasting is work that takes a while, whatever becomes of its context.
func lasting(d time.Duration) job.HandlerFunc {
	return func(context.Context, job.ShardingContext) error { time.Sleep(d); return nil }
}

// stuckUntilCancelled is work that ends only when it is run again.
func stuckUntilCancelled(ctx context.Context, sc job.ShardingContext) error {
	if sc.Source == job.Failover {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// reruns lists the failover runs since the last look.
func (c *cluster) reruns() []string {
	c.t.Helper()
	var reruns []string
	for _, r := range c.take() {
		if r.sc.Source == job.Failover {
			reruns = append(reruns, r.String())
		}
	}
	return reruns
}

// sleepWhileMarked sleeps until the mark of an execution has gone with its session.
func (c *cluster) sleepWhileMarked(item int) {
	c.t.Helper()
	for c.state().Item(item).Running.Exists() {
		time.Sleep(100 * time.Millisecond)
	}
}
