package operate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// The answer of what triggers the job is lost, and then nobody answers, or a right is taken away, while it is looked at whether
// it was done.
func TestWhatMayBeDoneStaysUnknown(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(g *ground){
		"no answer": func(g *ground) { g.registry.Cut() },
		"denied":    func(g *ground) { g.registry.Deny(nodes.Root(), false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := bareGround(t)
				g.registry.LoseAnswers(1)
				time.AfterFunc(10*time.Second, func() { then(g) })
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				_, err := g.op.Create(ctx, g.config(nil), silent())
				g.registry.Heal()
				g.registry.Allow()
				require.True(t, g.node(nodes.Config()).Exists())
				require.ErrorIs(t, err, registry.ErrUnknownOutcome)
				require.NotErrorIs(t, err, registry.ErrDenied, "it is not refused")
				_, refused := operate.IsRefused(err)
				require.False(t, refused)
			})
		})
	}
}
