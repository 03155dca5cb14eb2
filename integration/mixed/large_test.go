package mixed

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// The largest job that may be declared is one that a ZooKeeper as it comes can take: it is assigned, and
// assigned anew, all of it in one transaction.
func TestTheLargestJob(t *testing.T) {
	t.Parallel()
	need(t)
	c := newCluster(t, "largest_job")
	s, err := scheduler.New(c.open(c.address), c.options(goID, c.log)...)
	require.NoError(t, err)
	_, err = s.Add(t.Context(), c.config(never, 100_000), job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	var fault *job.FieldError
	require.True(t, errors.As(err, &fault), "%v", err)
	var most int
	_, err = fmt.Sscanf(fault.Reason, "must be at most %d", &most)
	require.NoError(t, err)
	require.Greater(t, most, 3000)

	c.startGo(c.config(never, most))
	c.eventually("the items are assigned", settled(most, goID))
	const first = "10.0.0.9@-@go-with-a-longer-id" // comes before the other one, and so takes half of the items
	g := c.startGoOver(c.open(c.address), first, c.config(never, most))
	c.eventually("they are assigned anew", settled(most, first, goID))
	g.stop()
	c.eventually("and once more", settled(most, goID))
	t.Logf("%d items", most)
}
