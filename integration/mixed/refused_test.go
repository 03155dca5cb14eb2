package mixed

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// What Java has stored and Go could not heed is refused, with the reason, and stays as it is.
func whatIsNotShared(t *testing.T, j java) {
	for name, test := range map[string]struct {
		change func(*javapeer.Job)
		want   string
	}{
		"turns":     {func(spec *javapeer.Job) { spec.Strategy = "SINGLE_SHARDING_BALANCE" }, "next-job-instance-ip"},
		"odd_zone":  {func(spec *javapeer.Job) { spec.TimeZone = "GMT+05:31" }, "timeZone"},
		"odd_zone2": {func(spec *javapeer.Job) { spec.TimeZone = "GMT+20:00" }, "timeZone"},
	} {
		t.Run(name, func(t *testing.T) {
			c := j.in(t).newCluster(t, "not_shared_"+name)
			spec := javapeer.NewJob(c.job, never, 2)
			test.change(&spec)
			first := c.joinJava(j.first, spec)
			stored := mustGet(t, c, c.tree.Config())
			s, err := scheduler.New(c.open(c.address), c.options(goID, c.log)...)
			require.NoError(t, err)
			_, err = s.Add(t.Context(), c.config(never, 2), job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
			require.ErrorContains(t, err, test.want)
			require.Equal(t, stored, mustGet(t, c, c.tree.Config()))
			require.NotZero(t, c.state().Instance(first).Created)
		})
	}
	t.Run("iana_zone", func(t *testing.T) {
		spec := javapeer.NewJob("not_known_zone", never, 1)
		spec.TimeZone = "Europe/Berlin"
		_, err := j.first.Join(j.in(t).newCluster(t, spec.Name).java(), spec)
		require.ErrorContains(t, err, "Europe/Berlin", "Java itself refuses it")
	})
	t.Run("turns_in_java", func(t *testing.T) {
		c := j.in(t).newCluster(t, "not_known_turns")
		spec := javapeer.NewJob(c.job, never, 1)
		spec.Strategy = "SINGLE_SHARDING_BALANCE"
		c.joinJava(j.first, spec)
		require.NoError(t, j.first.Console(c.java()).Trigger(c.job))
		require.False(t, c.within(sessionTimeout, func(s *jobtree.State) bool { return len(j.first.Events(c.job)) > 0 }), "Java itself has no such strategy")
	})
}

// A listener of Java's that runs once for a whole round waits for Go's items until its time is up, in every round, and does
// not run. Both sides run their items all the same. When Go has left, it runs again.
func onceListenersWait(t *testing.T, j java) {
	c := j.newCluster(t, "once_listeners")
	spec := javapeer.NewJob(c.job, never, 2)
	spec.Listeners = []string{javapeer.ListenerEach, javapeer.ListenerOnce}
	last := c.joinJava(j.last, spec)
	g := c.startGo(c.config(never, 2))
	console := j.first.Console(c.java())
	for round := range 2 {
		require.NoError(t, console.Trigger(c.job)) // for which Java, which leads, spreads the items
		j.last.WaitEvents(c.job, func(events []javapeer.Event) bool { return countKind(events, javapeer.EventEnd) > round })
		g.wait("its own item", func(runs []job.ShardingContext) bool { return len(runs) > round })
		j.last.WaitEvents(c.job, func(events []javapeer.Event) bool { return countKind(events, javapeer.EventAfter) > round })
		c.eventually("the round is over", func(s *jobtree.State) bool { return settled(2, goID, last)(s) && idle(s) })
	}
	require.Zero(t, countKind(j.last.Events(c.job), javapeer.EventBeforeOnce))
	require.Zero(t, countKind(j.last.Events(c.job), javapeer.EventAfterOnce))
	require.Contains(t, c.log.String(), "a listener of Java instances waits for all items of a round")
	g.stop()
	require.NoError(t, console.Trigger(c.job))
	j.last.WaitEvents(c.job, func(events []javapeer.Event) bool {
		return countKind(events, javapeer.EventBeforeOnce) == 1 && countKind(events, javapeer.EventAfterOnce) == 1
	})
}
