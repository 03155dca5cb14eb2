package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// restarts is the story that needs a store of its own.
const restarts = "the store restarts"

// scenarios are told over every store. Each has a job that fires every second, with failover.
var scenarios = map[string]struct {
	items int
	story func(s *stage)
}{
	"what ran on a crashed process is run again": {1, func(s *stage) {
		s.hold(a)
		first := s.enter(a)
		lost := s.waitCall("on a", func(x call) bool { return x.on == a })
		s.enter(b)
		first.crash()
		again := s.waitCall("failover on b", func(x call) bool { return x.on == b && x.Source == job.Failover })
		require.Equal(s, lost.Fire, again.Fire)
		require.Greater(s, again.Token, lost.Token)
		s.waitState("one was lost", func(now *jobtree.State) bool { return now.Item(0).Record.Value.Counts.Lost == 1 })
	}},
	"a second crash in a row": {1, func(s *stage) {
		s.hold(a)
		s.hold(b)
		first := s.enter(a)
		lost := s.waitCall("on a", func(x call) bool { return x.on == a })
		second := s.enter(b)
		first.crash()
		s.waitCall("failover on b", func(x call) bool { return x.on == b && x.Source == job.Failover })
		s.enter(c)
		second.crash()
		again := s.waitCall("failover on c", func(x call) bool { return x.on == c && x.Source == job.Failover })
		require.Equal(s, lost.Fire, again.Fire)
	}},
	"a stop hands over at once, and nothing is run again": {2, func(s *stage) {
		leaver := s.enter(a)
		s.enter(b)
		s.waitOwners(a, b)
		release := s.hold(a)
		held := s.waitCall("held on a", func(x call) bool { return x.on == a && !x.over })
		leaver.cancel()
		s.waitOwners(b) // while its item still runs
		release()
		leaver.stop()
		require.False(s, s.ranAgain(held))
	}},
	"a leader that crashes": {4, func(s *stage) {
		leader := s.enter(a)
		s.enter(b)
		s.enter(c)
		s.waitOwners(a, b, c)
		leader.crash()
		s.waitOwners(b, c)
		led := s.waitState("another leads", func(now *jobtree.State) bool { return now.Leader.Created != 0 && now.Leader.Instance != a })
		require.Contains(s, []string{b, c}, led.Leader.Instance)
	}},
	"cut off for longer than a session": {1, func(s *stage) {
		s.hold(a)
		first := s.enter(a)
		s.waitCall("on a", func(x call) bool { return x.on == a })
		s.enter(b)
		first.Cut()
		told := s.waitCall("cancelled on a", func(x call) bool { return x.on == a && x.over })
		require.ErrorIs(s, told.cause, registry.ErrSessionLost)
		s.waitCall("failover on b", func(x call) bool { return x.on == b && x.Source == job.Failover })
		first.Heal()
		s.waitState("a is back", func(now *jobtree.State) bool { return len(now.Instances) == 2 })
	}},
	"what finished while nobody reached the store": {2, func(s *stage) {
		s.deaf = true
		both := []*actor{s.enter(a), s.enter(b)}
		held, release := s.holdOneEach(a, b)
		for _, p := range both {
			p.Cut()
		}
		s.waitState("nobody is there", func(now *jobtree.State) bool { return len(now.Instances) == 0 })
		for i, p := range both {
			release[i]()
			s.waitCall("finished", func(x call) bool { return x.over && x.Item == held[i].Item && x.Token == held[i].Token })
			p.Heal()
		}
		s.waitState("all go on", func(now *jobtree.State) bool {
			return now.Item(0).Record.Value.Counts.Success > 1 && now.Item(1).Record.Value.Counts.Success > 1
		})
		for _, x := range held {
			require.False(s, s.ranAgain(x))
		}
	}},
	"all crash and come back": {1, func(s *stage) {
		release := s.hold(a)
		first := s.enter(a)
		lost := s.waitCall("on a", func(x call) bool { return x.on == a })
		first.crash()
		release()
		s.waitState("nobody is there", func(now *jobtree.State) bool { return len(now.Instances) == 0 })
		s.enter(b)
		again := s.waitCall("failover on b", func(x call) bool { return x.on == b && x.Source == job.Failover })
		require.Equal(s, lost.Fire, again.Fire)
	}},
	restarts: {2, func(s *stage) {
		s.enter(a)
		s.enter(b)
		s.waitOwners(a, b)
		s.store.Restart(100 * time.Millisecond)
		back := time.Now()
		for _, id := range []string{a, b} {
			s.waitCall("runs after the restart", func(x call) bool { return x.on == id && x.Fire.After(back) })
		}
	}},
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	for kind, start := range stores {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if kind == "zookeeper" {
				zookeeper.Need(t)
			}
			shared := start(t)
			for name, x := range scenarios {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					store := shared
					if name == restarts {
						store = start(t)
					}
					cfg := job.Config{Name: "orders", Cron: "@every 1s", ShardingTotalCount: x.items}
					cfg.Failover = true
					x.story(newStage(t, store, strings.ReplaceAll(name, " ", "-"), cfg))
				})
			}
		})
	}
}
