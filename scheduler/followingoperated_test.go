package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// What came while an item was disabled is never run, also by one that did not follow the item, and heard that it was
// disabled in one step with a request by hand: a store tells of several transactions at once after it could tell of none.
// A backfill is one operation, which stands behind what others did since its fire before.
func TestADisabledItemIsNotedBesideARequest(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]jobtree.Operation{
		"a trigger":  nil,
		"a backfill": {{ID: "request", Verb: jobtree.VerbBackfill, Target: "fire 2026-01-01T00:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) { disabledBesideARequest(t, c, before) })
		})
	}
}

func disabledBesideARequest(t *testing.T, c *cluster, before []jobtree.Operation) {
	t.Helper()
	tree := jobtree.For("orders")
	cfg := jobOf(9)
	cfg.Misfire = job.MisfireAll
	var members []*follows
	for _, id := range []string{"0", "1", "2"} {
		members = append(members, c.follows(id, scheduler.FollowOwn, cfg, nil))
	}
	operator := c.server.Open("test", memory.WithTTL(time.Hour))
	defer operator.Vanish()
	var operated jobtree.Operated
	operate := func(op jobtree.Operation, writes ...registry.Write) {
		op.When = time.Now()
		operated.Operations = slices.DeleteFunc(operated.Operations, func(old jobtree.Operation) bool { return old.ID == op.ID })
		operated = operated.With(op)
		_, err := operator.Commit(t.Context(), registry.Txn{Then: append(writes, registry.Put(tree.Operated(), jobtree.EncodeOperated(operated)))})
		require.NoError(t, err)
	}
	for _, op := range before {
		operate(op)
	}
	time.Sleep(20 * time.Second)
	sleepPast(5*time.Second, time.Second)
	heir, owner := members[1], members[2]
	require.Less(t, heir.Health(t.Context()).Jobs[0].Followed, 9)
	nodes, revision, err := operator.List(t.Context(), tree.Root())
	require.NoError(t, err)
	state := jobtree.StateOf("orders", registry.NewSnapshot(revision, nodes))
	var disable, enable []registry.Write
	var theirs []int
	for n := range 9 {
		if state.Owner(n) == owner.id {
			theirs = append(theirs, n)
			disable, enable = append(disable, registry.Put(tree.ItemDisabled(n), "")), append(enable, registry.Delete(tree.ItemDisabled(n)))
		}
	}
	require.NotEmpty(t, theirs)

	heir.registry.Cut()
	operate(jobtree.Operation{ID: "disable", Verb: "disable item"}, disable...)
	request, err := jobtree.EncodeTriggered(jobtree.Triggered{Items: []int{0}, Until: time.Now().Add(time.Second)})
	require.NoError(t, err)
	asked := jobtree.Operation{ID: "request", Verb: jobtree.VerbTrigger}
	if before != nil {
		asked.Verb, asked.Target = jobtree.VerbBackfill, "fire 2026-01-02T00:00:00Z"
	}
	operate(asked, registry.Put(tree.Triggered(), request))
	heir.registry.BreakWatch()
	heir.registry.Heal()
	disabled := time.Now()
	time.Sleep(20 * time.Second)
	operate(jobtree.Operation{ID: "enable", Verb: "enable item"}, enable...)
	enabled := time.Now()
	owner.crash(t)
	time.Sleep(time.Minute)
	var came []int
	for _, r := range c.all() {
		if !slices.Contains(theirs, r.sc.Item) {
			continue
		}
		require.False(t, r.sc.Fire.After(disabled) && r.sc.Fire.Before(enabled), "item %d was disabled when it ran for %s, as a %s of %s", r.sc.Item, r.sc.Fire, r.sc.Source, r.instance)
		if r.instance == "1" && r.sc.Fire.After(enabled) {
			came = append(came, r.sc.Item)
		}
	}
	require.NotEmpty(t, came, "some have come to the one that did not follow them")
}
