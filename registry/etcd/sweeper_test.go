package etcd_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// A late ticket is taken away by who is told of it, also before the view shows it.
func TestLateTicketThatTheViewDoesNotShowYet(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	hold := holdBack{admin: adminOf(t, server)}
	t.Cleanup(hold.timers.Wait)
	r := open(t, server.Endpoints(), func(c *etcd.Config) {
		c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(hold.intercept))
	})
	session(t, r)
	hold.late.Store(int64(3 * time.Second))
	require.NoError(t, r.Latch(t.Context(), "/latch", func(context.Context) error { return nil }))
	var tickets *registry.View
	require.Eventually(t, func() bool { tickets = r.LateTicket(); return tickets != nil }, time.Minute, time.Millisecond)
	came := make(chan registry.Revision, 1)
	tickets.Subscribe(func(step registry.Step) {
		if step.Snapshot.Len() > 0 {
			time.Sleep(200 * time.Millisecond) // the view shows it after that
			came <- step.Snapshot.Revision()
		}
	})
	shown := <-came
	_, err := tickets.WaitFor(within(t, time.Minute), func(s registry.Snapshot) bool { return s.Revision() >= shown && s.Len() == 0 })
	require.NoError(t, err, "somebody stands in the line")
	nodes, _, err := r.List(t.Context(), "/latch")
	require.NoError(t, err)
	require.Empty(t, nodes)
}
