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
func TestADisabledItemIsNotedBesideARequest(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
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
		operate := func(verb string, writes ...registry.Write) {
			operated = operated.With(jobtree.Operation{ID: time.Now().String() + verb, Verb: verb, When: time.Now()})
			_, err := operator.Commit(t.Context(), registry.Txn{Then: append(writes, registry.Put(tree.Operated(), jobtree.EncodeOperated(operated)))})
			require.NoError(t, err)
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
		operate("disable item", disable...)
		request, err := jobtree.EncodeTriggered(jobtree.Triggered{Items: []int{0}, Until: time.Now().Add(time.Second)})
		require.NoError(t, err)
		operate("trigger", registry.Put(tree.Triggered(), request))
		heir.registry.BreakWatch()
		heir.registry.Heal()
		disabled := time.Now()
		time.Sleep(20 * time.Second)
		operate("enable item", enable...)
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
	})
}
