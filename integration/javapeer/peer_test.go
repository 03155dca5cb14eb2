package javapeer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/integration/zookeeper"
)

// The peer is what tests of mixed clusters rest on: it runs a job, tells of each execution, and does
// what a console does.
func TestAPeerRunsAJob(t *testing.T) {
	t.Parallel()
	cluster := javapeer.Cluster{Servers: zookeeper.Start(t).Address(), Namespace: "peers", Session: 20 * time.Second}
	peer := javapeer.Start(t, javapeer.WithIP("10.0.0.7"))
	job := javapeer.NewJob("orders", "0/1 * * * * ?", 3)
	job.ItemParameters, job.JobParameter = "0=Berlin,1=Oslo", "all"
	belief, err := peer.Join(cluster, job)
	require.NoError(t, err)
	require.True(t, belief.Leader)
	require.Regexp(t, `^10\.0\.0\.7@-@\d+$`, belief.Instance)

	events := peer.WaitEvents("orders", ended(0, 1, 2))
	first := events[0]
	require.Equal(t, "all", first.JobParameter)
	require.Equal(t, 3, first.Total)
	require.Equal(t, "orders@-@0,1,2@-@READY@-@"+belief.Instance, first.Task)
	require.WithinDuration(t, time.Now(), first.Time(), time.Minute)

	peer.Last("orders", javapeer.UntilTold)
	console := peer.Console(cluster)
	require.Eventually(t, func() bool {
		items, err := console.Items("orders")
		return err == nil && len(items) == 3 && items[0].Status == "RUNNING"
	}, 2*time.Minute, 50*time.Millisecond)
	peer.Last("orders", 0)

	settings, err := console.Settings("orders")
	require.NoError(t, err)
	settings["shardingTotalCount"] = 4
	require.NoError(t, console.UpdateSettings(settings))
	peer.WaitEvents("orders", ended(3))

	require.NoError(t, console.Shutdown("orders", ""))
	require.Eventually(t, func() bool {
		belief, err := peer.Belief("orders")
		return err == nil && belief.Shutdown
	}, 2*time.Minute, 50*time.Millisecond)
	require.True(t, peer.Exit())
}

func TestWhatAPeerThrowsIsAnError(t *testing.T) {
	t.Parallel()
	peer := javapeer.Start(t)
	_, err := peer.Join(javapeer.Cluster{}, javapeer.Job{Name: "orders", Cron: "0/1 * * * * ?"})
	require.ErrorContains(t, err, "IllegalArgumentException")
	peer.Kill()
	_, err = peer.Belief("orders")
	require.Error(t, err)
}

// ended tells whether each of the items has run to its end.
func ended(items ...int) func([]javapeer.Event) bool {
	return func(events []javapeer.Event) bool {
		done := make(map[string]bool)
		for _, e := range events {
			if e.Kind == javapeer.EventEnd {
				done[fmt.Sprint(e.Item)] = true
			}
		}
		for _, item := range items {
			if !done[fmt.Sprint(item)] {
				return false
			}
		}
		return true
	}
}
