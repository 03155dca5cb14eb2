package checker_test

import (
	"testing"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
)

// Of a job without records, only what code saw is judged: each fire is run once, by the owner of the item.
func TestJobsThatAreNotMonitored(t *testing.T) {
	t.Parallel()
	// runs has code of item 0 be called, so long after the fire, for a second.
	runs := func(s *story, instance string, source job.Source, after time.Duration) {
		now := fire.Add(after)
		s.runs = append(s.runs, &checker.Run{
			Instance: instance, Began: now, Ended: now.Add(second), Context: job.ShardingContext{Item: 0, Fire: fire, Source: source, TotalCount: 1},
		})
	}
	judgeAll(t, []chapter{
		{"once", func(s *story) { runs(s, a, job.Scheduled, 0) }, nil},
		{"by nobody", func(*story) {}, lapses(checker.NoStall, "nobody ran the fire")},
		{"twice", func(s *story) {
			runs(s, a, job.Scheduled, 0)
			runs(s, a, job.Scheduled, 2*second)
		}, lapses(checker.OneExecution, "a fire was executed twice")},
		{"twice, as the item moved", func(s *story) {
			runs(s, a, job.Scheduled, 0)
			s.at(2*second).happen(checker.Crashed, a)
			s.at(7 * second)
			s.drop(ofA)
			s.commit(put(tree.Leader(), b, ofB))
			s.commit(put(tree.ItemInstance(0), b, 0), s.epoch(1))
			runs(s, b, job.Misfire, 8*second)
		}, nil},
		{"by another instance", func(s *story) { runs(s, b, job.Scheduled, 0) }, lapses(checker.OneHolder, "was run by another instance")},
		{"while it ran", func(s *story) {
			runs(s, a, job.Scheduled, 0)
			runs(s, a, job.Manual, second/2)
		}, lapses(checker.OneHolder, "ran twice at once in one process")},
		{"disabled", func(s *story) {
			s.at(-10 * second).commit(put(tree.ItemDisabled(0), "", 0))
			runs(s, a, job.Scheduled, 0)
		}, lapses(checker.Intent, "an item was run that is disabled")},
		{"disabled, and not run", func(s *story) { s.at(-10 * second).commit(put(tree.ItemDisabled(0), "", 0)) }, nil},
		{"of a disabled job", func(s *story) {
			s.at(-10 * second)
			cfg := s.state.Config.Value
			cfg.Disabled = true
			s.configure(cfg)
			runs(s, a, job.Scheduled, 0)
		}, lapses(checker.Intent, "an item was run that is disabled")},
	}, func(c *job.Config) { c.Unmonitored, c.Failover, c.ShardingTotalCount = true, false, 1 })
}
