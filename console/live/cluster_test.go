package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
)

// minutely fires every minute; each of its four items takes ten seconds.
func minutely(c *clustertest.Cluster) {
	c.Job(job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 4, Failover: true}, clustertest.Work(10*time.Second))
}

func TestAJobIsSeenRunning(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		minutely(c)
		c.StartN(2)
		c.Advance(30 * time.Second)
		h := opened(t, Config{Registry: c.Operator()})
		p := opens(t, h, anna, "topic=job/orders&topic=overview", "")
		defer p.close()
		var s seen
		s.take(of[JobFrame](t, p.news(), "job/orders"))
		require.True(t, s.Full)
		require.Len(t, s.Items, 4)
		require.Len(t, s.Instances, 2)
		require.Empty(t, s.spans, "nothing ran yet")
		require.Equal(t, clustertest.At(time.Minute), s.NextFires[0].UTC())

		c.AdvanceTo(clustertest.At(61 * time.Second))
		events := p.news()
		s.take(of[JobFrame](t, events, "job/orders"))
		require.False(t, s.Full)
		require.Len(t, s.spans, 4)
		for _, span := range s.spans {
			require.Equal(t, "running", span.Outcome)
			require.Equal(t, job.Scheduled, span.Source)
			require.Equal(t, clustertest.At(time.Minute), span.Fire)
			require.Zero(t, span.Cut)
			require.NotZero(t, span.Token)
		}
		require.Equal(t, clustertest.At(2*time.Minute), s.NextFires[0].UTC())

		c.AdvanceTo(clustertest.At(71 * time.Second))
		events = append(events, p.news()...)
		s.take(of[JobFrame](t, events, "job/orders"))
		require.Len(t, s.spans, 4)
		for _, span := range s.spans {
			require.Equal(t, "success", span.Outcome)
			require.InDelta(t, 10, span.End.Sub(span.Begin).Seconds(), 1)
		}
		require.Empty(t, s.Gaps)

		overviews := of[Overview](t, append(p.events, p.news()...), EventOverview)
		last := overviews[len(overviews)-1]
		require.Equal(t, map[string]int{"OK": 1}, last.Counts)
		require.Equal(t, 2, last.Instances)
		require.Equal(t, []Leading{{Instance: last.Leaders[0].Instance, Jobs: 1}}, last.Leaders)
		require.Empty(t, last.Needs)
		require.Equal(t, 4, last.Runs[len(last.Runs)-1].Runs)
		fires := 0
		for _, n := range last.Upcoming {
			fires += n
		}
		require.Equal(t, 5, fires, "one a minute in the next five")
	})
}

// When an instance is killed, its lanes stop as soon as the registry knows, and go on at others.
func TestAKilledInstanceIsSeen(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		minutely(c)
		all := c.StartN(2)
		h := opened(t, Config{Registry: c.Operator()})
		c.AdvanceTo(clustertest.At(59 * time.Second))
		p := opens(t, h, anna, "topic=job/orders", "")
		defer p.close()
		c.AdvanceTo(clustertest.At(62 * time.Second))
		victim := all[0]
		victim.Crash()
		var s seen
		s.take(of[JobFrame](t, p.news(), "job/orders"))
		runs := func() (n int) { // lanes in which the victim is shown as running
			for _, span := range s.spans {
				if span.Instance == victim.ID() && span.Outcome == "running" && span.Cut.IsZero() {
					n++
				}
			}
			return n
		}
		require.Equal(t, 2, runs())
		died := time.Time{}
		for range 120 { // until its session is over
			c.Advance(time.Second)
			s.take(of[JobFrame](t, p.news(), "job/orders"))
			if runs() == 0 && died.IsZero() {
				died = time.Now()
			}
		}
		require.WithinDuration(t, clustertest.At(62*time.Second), died, 20*time.Second, "when its session is over, its spans are not shown as running")
		lost := slices.DeleteFunc(slices.Collect(maps.Values(s.spans)), func(s Span) bool { return s.Outcome != "lost" })
		require.Len(t, lost, 2)
		again := slices.DeleteFunc(slices.Collect(maps.Values(s.spans)), func(s Span) bool { return !s.Failover })
		require.Len(t, again, 2)
		for _, span := range again {
			require.Equal(t, all[1].ID(), span.Instance)
			require.WithinDuration(t, lost[0].End, span.Begin, time.Second)
			require.WithinDuration(t, died, span.Begin, 2*time.Second)
		}
		kinds := make(map[EntryKind]int)
		for _, e := range s.log {
			if e.Kind != EntryMoved || e.From == victim.ID() {
				kinds[e.Kind]++
			}
			if e.Kind == EntryFailover {
				require.Equal(t, victim.ID(), e.From)
				require.Equal(t, all[1].ID(), e.To)
			}
		}
		require.Equal(t, 2, kinds[EntryFailover])
		require.Equal(t, 2, kinds[EntryLost])
		require.Equal(t, 1, kinds[EntryMoved], "its items moved, told in one entry")
		require.Equal(t, 1, kinds[EntryLeft])
		require.Len(t, s.Instances, 1)
	})
}

// While the registry is away, nothing is decided by the clock, and every page says since when.
func TestTheRegistryIsCut(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		minutely(c)
		c.StartN(2)
		h := opened(t, Config{Registry: c.Operator()})
		c.AdvanceTo(clustertest.At(75 * time.Second))
		p := opens(t, h, anna, "topic=job/orders&topic=overview", "")
		defer p.close()
		p.news()
		cutAt := time.Now()
		c.Operator().Cut()
		c.Advance(5 * time.Second)
		gone := of[Status](t, p.news(), EventDisconnected)
		require.NotEmpty(t, gone)
		require.WithinDuration(t, cutAt, gone[0].AsOf, 1100*time.Millisecond)
		require.False(t, h.Picture().Connected)
		row, _ := h.Picture().Row("orders")
		c.Advance(5 * time.Minute)
		events := p.news()
		require.Empty(t, of[Overview](t, events, EventOverview), "nothing is said of now")
		require.Empty(t, of[JobFrame](t, events, "job/orders"))
		require.Empty(t, of[Status](t, events, EventAlive))
		require.NotEmpty(t, of[Status](t, events, EventDisconnected), "and who comes to look is told again")
		still, _ := h.Picture().Row("orders")
		require.Equal(t, row.JSON, still.JSON)
		late := opens(t, h, anna, "topic=job/orders", "")
		defer late.close()
		require.Equal(t, EventDisconnected, late.news()[0].event, "before anything old")

		c.Operator().Heal()
		healed := time.Now()
		c.Advance(30 * time.Second)
		events = p.news()
		require.Len(t, of[Status](t, events, EventConnected), 1)
		var s seen
		s.take(of[JobFrame](t, events, "job/orders"))
		whole := slices.DeleteFunc(slices.Clone(s.Gaps), func(g Gap) bool { return g.Item != nil })
		require.Len(t, whole, 1, "what ran meanwhile is not certain")
		require.WithinDuration(t, cutAt, whole[0].From, 1100*time.Millisecond)
		require.WithinDuration(t, healed, whole[0].To, 15*time.Second)
		require.True(t, h.Picture().Connected)
		runs := of[Overview](t, append(events, p.news()...), EventOverview)
		require.True(t, slices.ContainsFunc(runs[len(runs)-1].Runs, func(m Minute) bool { return m.Uncertain }))
	})
}

func TestWhatNeedsAPerson(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		minutely(c)
		c.Job(job.Config{Name: "bad", Cron: "0 * * * * ?", ShardingTotalCount: 1}, job.HandlerFunc(failing))
		c.StartN(1)
		h := opened(t, Config{Registry: c.Operator()})
		c.AdvanceTo(clustertest.At(5*time.Minute + 30*time.Second))
		overview := func() Overview {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.overview("*", time.Now())
		}
		o := overview()
		require.Len(t, o.Needs, 1)
		require.Equal(t, "bad", o.Needs[0].Job)
		require.Equal(t, WordFailing, o.Needs[0].Word)
		require.Equal(t, 5, o.Needs[0].Failures)
		require.Contains(t, o.Needs[0].Last.Error, "no such table")
		op, err := operate.New(c.Operator(), operate.By("anna", "test"))
		require.NoError(t, err)
		_, err = op.DisableJob(t.Context(), "bad", operate.Options{Reason: "no table"})
		require.NoError(t, err)
		c.Advance(time.Second)
		require.Empty(t, overview().Needs, "what was switched off needs nobody")
		require.Zero(t, overview().Leaderless, "and nobody leads it")
		p := opens(t, h, anna, "topic=job/bad", "")
		defer p.close()
		var s seen
		s.take(of[JobFrame](t, p.news(), "job/bad"))
		last := s.log[len(s.log)-1]
		require.Equal(t, EntryOperation, last.Kind)
		require.Equal(t, "anna", last.By)
		require.Contains(t, last.Text, "no table")
	})
}

func failing(context.Context, job.ShardingContext) error { return errors.New("exit 3: no such table") }
