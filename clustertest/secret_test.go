package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// withKey is code with a key, which quotes it when it fails.
type withKey struct{}

func (withKey) Configure(cfg job.Config) (job.HandlerFunc, error) {
	p := job.ReadProps(cfg.Props)
	key := p.Required("shop.key")
	return func(context.Context, job.ShardingContext) error {
		return errors.New(p.Redact(fmt.Sprintf("the shop does not know the key %q", key)))
	}, p.Err()
}

// The process has the secret, and the registry has its name, whatever happens.
func TestASecretIsNowhereInTheRegistry(t *testing.T) {
	t.Setenv("CLUSTERTEST_KEY", "swordfish")
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := everyFiveMinutes()
		cfg.Props = map[string]string{"shop.key": "env:CLUSTERTEST_KEY"}
		c.Job(cfg, withKey{})
		c.StartN(2)
		c.Update("invoices", func(cfg *job.Config) { cfg.Description = "failing" })
		c.Advance(10 * time.Minute)
		if e := c.Executions("invoices")[0]; e.Err == nil || e.Err.Error() != `the shop does not know the key "env:CLUSTERTEST_KEY"` {
			t.Fatal(e.Err)
		}
		nodes, _, err := c.Operator().List(t.Context(), registry.Root)
		if err != nil {
			t.Fatal(err)
		}
		references := 0
		for _, n := range nodes {
			if strings.Contains(n.Value, "swordfish") {
				t.Fatal(n)
			}
			references += strings.Count(n.Value, "env:CLUSTERTEST_KEY")
		}
		if references < 1+4 {
			t.Fatalf("%d references, want those of the config and of the records of four items", references)
		}
	})
}
