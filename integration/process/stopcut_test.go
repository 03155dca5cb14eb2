//go:build linux

package process_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/proxy"
)

// TestStoppedWithoutAStore stops an instance that cannot reach its store. Neither its scheduler nor the
// handle of its registry may wait for an answer: the process ends when its session does.
func TestStoppedWithoutAStore(t *testing.T) {
	t.Parallel()
	onBoth(t, func(g ground) {
		t := g.t
		const ttl = 3 * time.Second
		cfg := jobOf("orders", "* * * * * ?", 2, "10ms", "20ms")
		f, _ := smallFleet(g, 1, ttl, cfg)
		network := proxy.Start(t, g.addresses[0])
		lonely := f.start("127.0.0.9@-@p1", []string{network.Address()})
		require.NoError(t, lonely.awaitReady())
		_, _ = f.await(cfg.Name, "both to have an item", balanced(2))
		network.Cut()
		f.suffer(checker.Crashed, lonely, func() { // which it is to everybody else
			asked := time.Now()
			lonely.term(func(status int) bool { return status == statusUnheard })
			took := time.Since(asked)
			t.Logf("ended %d ms after the SIGTERM", took.Milliseconds())
			require.Less(t, took, f.rules.Grace, "it waits for a store that does not answer")
		})
		network.Heal()
		_, _ = f.await(cfg.Name, "the other to have both", balanced(1))
		f.stopAll()
		f.judge()
	})
}
