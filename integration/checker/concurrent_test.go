package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// A job that runs one item at once in a process has the other wait.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	tooMany := lapses(checker.Intent, "1 items ran already in the process, and 1 may")
	// both has a own both items, and begin them.
	both := func(s *story) (first, second *checker.Run) {
		s.commit(put(tree.ItemInstance(1), a, 0), s.epoch(2))
		s.at(0)
		return s.begin(0, a, job.Scheduled, fire), s.begin(1, a, job.Scheduled, fire)
	}
	limit := func(s *story, n int) {
		cfg := s.state.Config.Value
		cfg.MaxConcurrentItems = n
		s.configure(cfg)
	}
	judgeAll(t, []chapter{
		{"one after the other", func(s *story) {
			first, other := both(s)
			other.Began = fire.Add(2 * second)
			s.at(2 * second)
			s.end(0, first, jobtree.Success)
			s.at(4 * second)
			s.end(1, other, jobtree.Success)
		}, nil},
		{"at once", func(s *story) {
			first, other := both(s)
			other.Began = fire.Add(second)
			s.at(2 * second)
			s.end(0, first, jobtree.Success)
			s.end(1, other, jobtree.Success)
		}, tooMany},
		{"each in its process", func(s *story) { s.round() }, nil},
		{"while an item waits to be tried again", func(s *story) {
			first, other := both(s)
			s.fails(first, second)
			last := s.again(first, 4*second)
			other.Began = fire.Add(2 * second)
			s.at(5 * second)
			s.end(1, other, jobtree.Success)
			s.end(0, last, jobtree.Success)
		}, tooMany},
		{"as the settings were a moment ago", func(s *story) {
			limit(s, 2)
			first, other := both(s)
			limit(s.at(second/2), 1)
			other.Began = fire.Add(second)
			s.at(2 * second)
			s.end(0, first, jobtree.Success)
			s.end(1, other, jobtree.Success)
		}, nil},
		{"as the settings were long ago", func(s *story) {
			limit(s, 2)
			first, other := both(s)
			limit(s.at(second), 1)
			other.Began = fire.Add(5 * second)
			s.at(6 * second)
			s.end(0, first, jobtree.Success)
			s.end(1, other, jobtree.Success)
		}, tooMany},
		{"as the settings were, for one that was cut off", func(s *story) {
			limit(s, 2)
			first, other := both(s)
			s.at(second/2).happen(checker.Cut, a).Until = fire.Add(3 * second)
			limit(s.at(second), 1)
			other.Began = fire.Add(3 * second)
			s.at(4 * second)
			s.end(0, first, jobtree.Success)
			s.end(1, other, jobtree.Success)
		}, nil},
	}, func(cfg *job.Config) { cfg.MaxConcurrentItems, cfg.Retries = 1, 1 })
}

// Code that does not listen goes on when a stop has given it up, and the next scheduler of the id knows nothing of it.
func TestConcurrencyAfterAStop(t *testing.T) {
	t.Parallel()
	for stopped, want := range map[bool]bool{true: false, false: true} {
		s := newStory(func(cfg *job.Config) { cfg.MaxConcurrentItems = 1 })
		s.commit(put(tree.ItemInstance(1), a, 0), s.epoch(2))
		deaf := s.at(0).begin(0, a, job.Scheduled, fire)
		if deaf.Ended = fire.Add(9 * second); stopped {
			deaf.Cancelled, deaf.Cause = fire.Add(2*second), errFailed
			s.at(second).happen(checker.Stopped, a).Until = fire.Add(3 * second)
			s.at(4*second).happen(checker.Started, a)
		}
		s.at(5*second).begin(1, a, job.Scheduled, fire)
		require.Equal(t, want, hasLapse(s.judge(), lapse{checker.Intent, "1 items ran already"}))
	}
}
