package etcd_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

func TestServerTime(t *testing.T) {
	t.Parallel()
	r := open(t, sharedServer(t).Endpoints())
	requireServerTime(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.ServerTime(ctx)
	require.ErrorIs(t, err, registry.ErrUnavailable)
}

// requireServerTime requires that a store on this machine has this machine's time. It tells it in whole seconds.
func requireServerTime(t *testing.T, r *etcd.Registry) {
	t.Helper()
	before := time.Now()
	now, err := r.ServerTime(t.Context())
	require.NoError(t, err)
	require.WithinRange(t, now, before.Add(-2*time.Second), time.Now().Add(2*time.Second))
	require.Equal(t, now, now.Round(0), "without a monotonic reading")
}

func TestServerTimeWhereHTTPIsElsewhere(t *testing.T) {
	t.Parallel()
	server := startServer(t, etcdserver.WithSeparateHTTP())
	r := open(t, server.Endpoints())
	_, err := r.ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnsupported)
}

func TestServerTimeOfAnotherMember(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	good := sharedServer(t).Endpoints()[0]
	// The client treats both as one cluster; only the clock is asked of here.
	r := open(t, server.Endpoints(), func(c *etcd.Config) { c.Endpoints = []string{server.Endpoints()[0], good[len("http://"):]} })
	server.Stop()
	_, err := r.ServerTime(t.Context())
	require.NoError(t, err, "an endpoint without a scheme is asked as well, after the one that is down")

	only := startServer(t)
	r = open(t, only.Endpoints())
	only.Stop()
	_, err = r.ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.NoError(t, only.Restart(t.Context()))
}

// membersAt returns a registry whose members' clocks are ahead by so much. They tell of nothing else.
func membersAt(t *testing.T, ahead ...time.Duration) *etcd.Registry {
	t.Helper()
	var endpoints []string
	for _, by := range ahead {
		member := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
		}))
		t.Cleanup(member.Close)
		endpoints = append(endpoints, member.URL)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	r, err := etcd.New(client, etcd.Config{Namespace: "times", RequestTimeout: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	return r
}

// One member whose clock is wrong does not decide what time it is, wherever it stands in the list.
func TestTheServerTimeIsTheMiddleOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ahead []time.Duration
		want  time.Duration
	}{
		"the first is behind":    {[]time.Duration{-time.Hour, 0, 0}, 0},
		"the second is ahead":    {[]time.Duration{0, time.Hour, 0}, 0},
		"the third is behind":    {[]time.Duration{0, time.Minute, -time.Hour}, 0},
		"two of five":            {[]time.Duration{time.Hour, 0, 0, time.Hour, 0}, 0},
		"one of two is behind":   {[]time.Duration{-time.Minute, 0}, 0},
		"one of two is ahead":    {[]time.Duration{0, time.Minute}, time.Minute}, // nobody can tell them apart
		"there is but one":       {[]time.Duration{time.Minute}, time.Minute},
		"all are ahead somewhat": {[]time.Duration{9 * time.Minute, 10 * time.Minute, 11 * time.Minute}, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := membersAt(t, test.ahead...)
			now, err := r.ServerTime(t.Context())
			require.NoError(t, err)
			require.WithinDuration(t, time.Now().Add(test.want), now, 5*time.Second)
		})
	}
}

// A member that does not answer is waited for no longer than one request may take, and the others' times count.
func TestTheServerTimeWithoutAMemberThatHangs(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
	t.Cleanup(func() {
		close(hung)
		silent.Close()
	})
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.Endpoints, c.RequestTimeout = append(c.Endpoints, silent.URL), 3*time.Second
	})
	requireServerTime(t, r)
}
