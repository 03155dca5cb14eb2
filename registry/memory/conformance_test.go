package memory_test

import (
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/registry/registrytest"
)

// TestMain lets many cases run at once, whatever the number of processors: those in real time mostly
// wait.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "32")
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	registrytest.Run(t, description(4*time.Second))
}

// TestConformanceInVirtualTime keeps the processors busy, so it does not run beside the cases in real
// time, which take a late keep-alive for a lost one.
func TestConformanceInVirtualTime(t *testing.T) {
	b := description(5 * time.Second)
	b.Around = synctest.Test
	b.Idle = time.Hour
	registrytest.Run(t, b)
}

// description describes the package to the suite.
func description(ttl time.Duration, options ...memory.Option) registrytest.Backend {
	options = append(options, memory.WithTTL(ttl))
	return registrytest.Backend{
		Start: func(testing.TB, []registrytest.Ability) *registrytest.Store {
			return store(memory.NewServer(), ttl, options)
		},
		MaxOps:   memory.DefaultMaxOps,
		MaxBytes: memory.DefaultMaxBytes,
	}
}

func store(server *memory.Server, ttl time.Duration, options []memory.Option) *registrytest.Store {
	return &registrytest.Store{
		TTL: ttl,
		Open: func(_ testing.TB, namespace string) *registrytest.Participant {
			return participant(server.Open(namespace, options...))
		},
		Restart: func(down time.Duration) {
			server.Stop()
			time.Sleep(down)
			server.Start()
		},
		Compact: server.Compact,
		Fill:    func() { server.SetFull(true) },
		Free:    func() { server.SetFull(false) },
	}
}

func participant(r *memory.Registry) *registrytest.Participant {
	return &registrytest.Participant{
		Registry: r, Cut: r.Cut, Heal: r.Heal, Expire: r.Expire, Vanish: r.Vanish, BreakWatch: r.BreakWatch,
		LoseAnswer: func() { r.LoseAnswers(1) }, HoldBack: func(late time.Duration) { r.HoldBack(1, late) },
		Deny: func(path string) { r.Deny(path, true) }, Allow: r.Allow,
	}
}
