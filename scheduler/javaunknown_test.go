package scheduler_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func TestAProcessThatIsNotToldOfLiveJavaInstances(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.java()
		j.joinAs("null@-@7") // as Java calls itself on a host without an address
		j.join()
		_, err := c.unaware().Add(t.Context(), sharedJob(2), job.HandlerFunc(nothing))
		require.ErrorIs(t, err, scheduler.ErrJavaPeers)
		require.ErrorContains(t, err, javaID)
		require.ErrorContains(t, err, "WithJavaPeers")
		_, err = j.registry.Get(t.Context(), orders.Config())
		require.ErrorIs(t, err, registry.ErrNotFound, "nothing was stored")

		other := sharedJob(2)
		other.Name = "invoices"
		require.NoError(t, errOf(c.unaware().Add(t.Context(), other, job.HandlerFunc(nothing))), "Java takes no part in that one")

		j.do(registry.Delete(orders.Instance(javaID)), registry.Delete(orders.Instance("null@-@7")))
		require.NoError(t, errOf(c.unaware().Add(t.Context(), sharedJob(2), job.HandlerFunc(nothing))), "the last one is gone")
	})
}

// Whoever came between the declaration and the start is noticed, too.
func TestAJavaInstanceThatCameBeforeRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		s := c.unaware()
		require.NoError(t, errOf(s.Add(t.Context(), sharedJob(2), job.HandlerFunc(nothing))))
		c.javaJoins(javaID)
		err := s.Run(t.Context())
		require.ErrorIs(t, err, scheduler.ErrJavaPeers)
		require.ErrorContains(t, err, javaID)
		require.Zero(t, c.state().Instance(fullID("a")).Created)
	})
}

// A process that takes part already goes on and says so, once; when it loses its session it stays away.
func TestAJavaInstanceThatComesLater(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var text bytes.Buffer
		reg := c.server.Open("test")
		defer reg.Close(context.Background())
		s, err := scheduler.New(javaLayout{reg}, scheduler.WithInstanceID(fullID("a")),
			scheduler.WithLogger(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelError}))))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), sharedJob(6), c.record("a", nil))))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		<-s.Ready()
		j := c.javaJoins(javaID)
		c.javaJoins(secondJavaID)
		sleepUntil(6 * time.Second)
		require.NotEmpty(t, c.take())
		require.Equal(t, 1, bytes.Count(text.Bytes(), []byte("a Java instance takes part in the job")), text.String())
		require.Contains(t, text.String(), "live Java instances take part")
		reg.Expire()
		sleepUntil(2 * time.Minute)
		require.Zero(t, c.state().Instance(fullID("a")).Created)
		j.do(registry.Delete(orders.Instance(javaID)), registry.Delete(orders.Instance(secondJavaID)))
		sleepUntil(3 * time.Minute)
		require.NotZero(t, c.state().Instance(fullID("a")).Created)
		stop()
		require.NoError(t, <-done)
	})
}

// Ids of Java's form are how Java instances are known, so nobody else has one where they may be. Elsewhere
// they are ids like others.
func TestInstanceIDsOfJavasForm(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer reg.Close(context.Background())
	for name, test := range map[string]struct {
		reg     registry.Registry
		options []scheduler.Option
		id      string
		refused bool
	}{
		"where Java may be":       {javaLayout{reg}, nil, "10.0.0.1@-@4711", true},
		"among Java instances":    {reg, []scheduler.Option{scheduler.WithJavaPeers()}, "10.0.0.1@-@4711", true},
		"elsewhere":               {reg, nil, "10.0.0.1@-@4711", false},
		"with more than digits":   {javaLayout{reg}, nil, "10.0.0.1@-@4711-a", false},
		"of no IPv4 address":      {javaLayout{reg}, nil, "web@-@4711", false},
		"the default":             {javaLayout{reg}, nil, "", false},
		"the default, among Java": {reg, []scheduler.Option{scheduler.WithJavaPeers()}, "", false},
	} {
		if test.id != "" {
			test.options = append(test.options, scheduler.WithInstanceID(test.id))
		}
		s, err := scheduler.New(test.reg, test.options...)
		if !test.refused {
			require.NoError(t, err, name)
			require.False(t, test.id == "" && jobtree.JavaInstance(s.InstanceID()), name)
			continue
		}
		require.ErrorIs(t, err, scheduler.ErrInvalidOption, name)
		require.ErrorContains(t, err, test.id+"-a", name)
	}
}
