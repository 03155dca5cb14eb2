package etcd_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/registry/etcd"
)

// tries counts the tries of commits by the member to which they went.
type tries struct {
	mu sync.Mutex
	to map[string]int
}

func (c *tries) on(config *etcd.Config) {
	config.DialOptions = append(config.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			var on peer.Peer
			err := invoke(ctx, method, req, reply, conn, append(opts, grpc.Peer(&on))...)
			if on.Addr != nil && writes(req) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.to[on.Addr.String()]++
			}
			return err
		},
	))
}

func (c *tries) at(member *wire) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to[member.Address()]
}

// startThree returns three members that the test can part from their clients: three ways to one server.
func startThree(t *testing.T) (members []*wire, endpoints []string) {
	t.Helper()
	server := startServer(t)
	for range 3 {
		members = append(members, newProxy(t, server.Endpoints()[0]))
		endpoints = append(endpoints, members[len(members)-1].endpoint())
	}
	return members, endpoints
}

// A member that takes what it is sent and never answers costs the tries that it had then, and no later ones; when it answers
// again, it is asked again.
func TestASilentMemberIsPassedOver(t *testing.T) {
	t.Parallel()
	members, endpoints := startThree(t)
	stood := standstill.New(t)
	counted := tries{to: make(map[string]int)}
	r := open(t, endpoints, counted.on)
	wrote := 0
	write := func(until func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !until(); wrote++ {
			require.True(t, time.Now().Before(end), "%v", counted.to)
			put(t, r, fmt.Sprintf("/node/%d", wrote), "")
		}
	}
	askedAll := func() bool {
		return counted.at(members[0]) > 0 && counted.at(members[1]) > 0 && counted.at(members[2]) > 0
	}
	write(askedAll)

	members[0].Cut()
	before, from := counted.at(members[0]), wrote
	write(func() bool { return wrote == from+60 })
	require.Equal(t, before+1, counted.at(members[0]), "one after the other, they were sent")

	members[0].Heal()
	healed := time.Now()
	write(func() bool { return counted.at(members[0]) > before+1 })
	require.Less(t, stood.Elapsed(healed), 10*time.Second, "before it would be tried again in any case")

	// The only one that answers may have been silent just before.
	members[0].Cut()
	write(func() bool { return counted.at(members[0]) > before+2 })
	members[1].Cut()
	members[2].Cut()
	members[0].Heal()
	put(t, r, "/last", "")
}

// Watches leave a member sooner that is silent to other calls, too.
func TestWatchesLeaveASilentMember(t *testing.T) {
	t.Parallel()
	members, endpoints := startThree(t)
	// left cuts the member off that the watches are with, and tells whether they left it because of its silence.
	left := func(try int) bool {
		log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 16)}
		r := open(t, endpoints, func(c *etcd.Config) { c.Logger = slog.New(log) })
		v := view(t, r, "/")
		require.Eventually(t, func() bool { return r.WatchedMember() != "" }, time.Minute, time.Millisecond)
		var with *wire
		for _, m := range members {
			if m.Address() == r.WatchedMember() {
				with = m
			}
		}
		require.NotNil(t, with)
		with.Cut()
		defer with.Heal()
		last := ""
		for i := range 30 { // some of which go to that member
			last = fmt.Sprint(try, " ", i)
			put(t, r, "/a", last)
		}
		waitValue(t, v, "/a", last)
		select {
		case line := <-log.records:
			require.Equal(t, "watches were silent and are started again", line.Message)
			attrs := make(map[string]slog.Value)
			line.Attrs(func(a slog.Attr) bool { attrs[a.Key] = a.Value; return true })
			require.Equal(t, with.Address(), attrs["endpoint"].String())
			return attrs["silence"].Duration() < 5*time.Second
		case <-time.After(5 * time.Second): // they left it as nothing had come to them
			return false
		}
	}
	// On a busy machine a write that is slow for another reason has more patience, and tells of the member's silence later.
	for try := 1; !left(try); try++ {
		require.Less(t, try, 5)
	}
}

// While a member is away, one stream of watches after the other is given up: that is one cause.
func TestSilentWatchesAreCounted(t *testing.T) {
	t.Parallel()
	way := newProxy(t, sharedServer(t).Endpoints()[0])
	log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 64)}
	r := open(t, []string{way.endpoint()}, func(c *etcd.Config) { c.Logger, c.RequestTimeout = slog.New(log), 200*time.Millisecond })
	view(t, r, "/")
	way.Cut()
	t.Cleanup(way.Heal)
	require.Eventually(t, func() bool { return r.SilentStreams() > 2 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, r.Close(t.Context()))
	var times []int64
	for len(log.records) > 0 {
		line := <-log.records
		if line.Message != "watches were silent and are started again" {
			continue
		}
		counted := int64(1)
		line.Attrs(func(a slog.Attr) bool {
			if a.Key == "times" {
				counted = a.Value.Int64()
			}
			return true
		})
		times = append(times, counted)
	}
	require.Len(t, times, 2, "one line at once, and one with the count")
	require.Equal(t, int64(1), times[0])
	require.GreaterOrEqual(t, times[1], int64(2))
}
