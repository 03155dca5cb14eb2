package health_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// town is a cluster of real schedulers of one job, with four items every five seconds.
type town struct {
	t      *testing.T
	server *memory.Server
	hand   *memory.Registry // of whoever writes there besides
	homes  []*home
}

// home is one of the schedulers.
type home struct {
	*scheduler.Scheduler
	registry *memory.Registry
	stop     func() error
}

var orders = jobtree.For("orders")

func everyFive(name string) job.Config {
	cfg := job.Config{Name: name, Cron: "0/5 * * * * ?", ShardingTotalCount: 4}
	cfg.Class = "com.acme." + name
	return cfg
}

func idle(context.Context, job.ShardingContext) error { return nil }

func (w *town) build(id string, work job.HandlerFunc, options ...scheduler.Option) *home {
	w.t.Helper()
	h := &home{registry: w.server.Open("test", memory.WithTTL(time.Minute))}
	s, err := scheduler.New(h.registry, append(options, scheduler.WithInstanceID("10.0.0.1@-@"+id))...)
	require.NoError(w.t, err)
	h.Scheduler = s
	_, err = s.Add(w.t.Context(), everyFive("orders"), work)
	require.NoError(w.t, err)
	h.stop = func() error { return nil }
	w.t.Cleanup(func() {
		require.NoError(w.t, h.stop())
		_ = h.registry.Close(context.Background()) // one that was cut off cannot say that it goes
	})
	w.homes = append(w.homes, h)
	return h
}

func (w *town) start(id string, work job.HandlerFunc, options ...scheduler.Option) *home {
	w.t.Helper()
	h := w.build(id, work, options...)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	h.stop = func() error {
		cancel()
		err := <-done
		done <- err
		return err
	}
	<-h.Ready()
	return h
}

func (w *town) do(writes ...registry.Write) {
	w.t.Helper()
	_, err := w.hand.Commit(w.t.Context(), registry.Txn{Then: writes})
	require.NoError(w.t, err)
}

// at waits until so long after the town was built, and until all has settled then.
func at(d time.Duration) {
	time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d)))
	synctest.Wait()
}

// session returns the state of the session.
func (h *home) session(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	return h.Health(ctx).Session.State
}

// ask returns the status of an answer, and its reasons.
func (h *home) ask(t *testing.T, path string) (status int, reasons []string) {
	t.Helper()
	w := httptest.NewRecorder()
	health.Handler(h).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	var v health.Verdict
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
	return w.Code, v.Reasons
}

// What is wrong with one pod, one job or the registry turns no pod unready, though whoever watches the cluster is
// told; and what somebody wants to be so is not even told. The judged are real processes.
func TestWhatHappensToOthersTurnsNoPodUnready(t *testing.T) {
	t.Parallel()
	const good = "" // no reason at all
	for name, test := range map[string]struct {
		play  func(w *town) (asked []*home)
		wants string // a part of what each of the asked says of the cluster
	}{
		"all in order": {func(w *town) []*home {
			w.start("a", idle)
			w.start("b", idle)
			at(time.Minute)
			return w.homes
		}, good},
		"the moment before Run": {func(w *town) []*home {
			return []*home{w.build("a", idle)}
		}, good},
		"the moment before Run, the registry away": {func(w *town) []*home {
			a := w.build("a", idle)
			a.registry.Cut()
			at(time.Minute)
			return []*home{a}
		}, good},
		"one bad pod: it gets items and begins none": {func(w *town) []*home {
			w.start("a", idle)
			at(9 * time.Second)
			session, err := w.hand.Session(w.t.Context())
			require.NoError(w.t, err)
			w.do(
				registry.PutOwned(orders.Instance("10.0.0.2@-@bad"), jobtree.InstanceIdle, session),
				registry.Put(orders.Necessary(), ""),
			)
			at(time.Minute)
			return w.homes
		}, "2 items should have run and did not"},
		"one bad pod, itself: it may not read the job": {func(w *town) []*home {
			w.start("a", idle)
			bad := w.start("b", idle)
			at(9 * time.Second)
			bad.registry.Deny("/orders", false)
			at(11 * time.Second)
			return []*home{bad}
		}, "cannot be followed"},
		"a slow disk: no begin is answered, and the session is in doubt": {func(w *town) []*home {
			a := w.start("a", idle)
			at(9500 * time.Millisecond)
			a.registry.Cut()
			w.t.Cleanup(a.registry.Heal)
			for a.session(w.t) == "connected" {
				time.Sleep(100 * time.Millisecond)
			}
			w.t.Cleanup(func() { require.Equal(w.t, "suspended", a.session(w.t), "all along") })
			return []*home{a}
		}, "4 items should have run and did not"},
		"a slow disk: a begin takes two and a half seconds": {func(w *town) []*home {
			a := w.start("a", idle)
			at(9500 * time.Millisecond)
			a.registry.SetLatency(1250 * time.Millisecond)
			at(10100 * time.Millisecond)
			return []*home{a}
		}, `job "orders": its runner does not answer`},
		"a disabled job": {func(w *town) []*home {
			w.start("a", idle)
			at(9 * time.Second)
			w.do(registry.Put(orders.Server("10.0.0.1"), jobtree.EncodeServer(true)))
			w.start("b", idle)
			at(2 * time.Minute)
			return w.homes
		}, good},
		"a job that pauses for its configuration": {func(w *town) []*home {
			w.start("a", idle)
			w.start("b", idle)
			at(9 * time.Second)
			w.do(registry.Put(orders.Config(), "{"))
			at(time.Minute)
			return w.homes
		}, "/orders/config"},
		"items that Java runs": {func(w *town) []*home {
			const java = "10.0.0.9@-@7"
			session, err := w.hand.Session(w.t.Context())
			require.NoError(w.t, err)
			cfg := everyFive("orders")
			cfg.ShardingStrategy = "com.acme.OwnStrategy" // by which Java spreads them as the test likes
			text, err := jobtree.EncodeConfig(cfg)
			require.NoError(w.t, err)
			w.do(
				registry.Put(orders.Config(), text), registry.Put(orders.Server("10.0.0.9"), ""),
				registry.PutOwned(orders.Leader(), java, session), registry.PutOwned(orders.Instance(java), "", session),
			)
			a := w.start("a", idle, scheduler.WithJavaPeers())
			at(2 * time.Second)
			spread := []registry.Write{registry.Delete(orders.Necessary())}
			for n, owner := range []string{"10.0.0.1@-@a", java, java, java} {
				spread = append(spread, registry.Put(orders.ItemInstance(n), owner))
			}
			w.do(spread...)
			at(time.Minute)
			w.do(registry.PutOwned(orders.ItemRunning(1), "", session)) // for long
			at(3 * time.Minute)
			return []*home{a}
		}, good},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &town{t: t, server: memory.NewServer()}
				w.hand = w.server.Open("test")
				t.Cleanup(func() { _ = w.hand.Close(context.Background()) })
				for _, h := range test.play(w) {
					for _, path := range []string{"/live", "/ready"} {
						asked := time.Now()
						status, reasons := h.ask(t, path)
						require.Equal(t, http.StatusOK, status, "%s: %s", path, reasons)
						require.Zero(t, time.Since(asked), "%s: whoever probes may wait for a second only", path)
					}
					status, reasons := h.ask(t, "/cluster")
					if test.wants == good {
						require.Equal(t, http.StatusOK, status, reasons)
					} else {
						require.Equal(t, http.StatusServiceUnavailable, status)
						require.Contains(t, strings.Join(reasons, "\n"), test.wants)
					}
				}
			})
		})
	}
}
