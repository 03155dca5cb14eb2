package checker_test

import (
	"testing"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// requeue has item 0, which does not run, wait to be run again.
func (s *story) requeue() {
	record, err := s.record(0).Requeue()
	if err != nil {
		panic(err)
	}
	s.commit(put(tree.ItemRecord(0), jobtree.EncodeRecord(record), 0))
}

// runAgain has b run item 0 again, which waits.
func (s *story) runAgain() {
	again := s.claim(b)
	s.now = s.now.Add(second)
	s.end(0, again, jobtree.Success)
}

// leave has a go away by its own will.
func (s *story) leave() {
	s.happen(checker.Stopped, a).Until = s.now.Add(second)
	s.commit(gone(tree.Instance(a)), gone(tree.Leader()), put(tree.FailoverLeft(a), "left", 0))
}

// What belonged to an instance that crashed is run again, if the job asks for that.
func TestAbandonedItems(t *testing.T) {
	t.Parallel()
	crash := func(s *story, then func()) {
		s.round()
		s.at(minute).happen(checker.Crashed, a)
		s.now = s.now.Add(5 * second)
		s.drop(ofA)
		then()
	}
	judgeAll(t, []chapter{
		{"run again", func(s *story) {
			crash(s, func() {
				s.commit(put(tree.Leader(), b, ofB))
				s.requeue()
				s.takeOver()
				s.runAgain()
			})
		}, nil},
		{"given away", func(s *story) { crash(s, s.takeOver) }, lapses(checker.NothingForgotten, "given to")},
		{"run again before, and given away", func(s *story) {
			crash(s, func() {
				s.requeue()
				s.runAgain()
				s.takeOver()
			})
		}, nil},
		{"run again twice", func(s *story) {
			crash(s, func() {
				s.requeue()
				s.takeOver()
				s.runAgain()
				s.requeue()
				s.runAgain()
			})
		}, lapses(checker.NothingForgotten, "a record without an execution")},
		{"back again", func(s *story) {
			crash(s, func() {
				s.happen(checker.Started, a)
				s.commit(put(tree.Instance(a), "", ofC))
				s.takeOver()
			})
		}, nil},
		{"it left", func(s *story) {
			s.round()
			s.at(minute).leave()
			s.takeOver()
			s.commit(gone(tree.FailoverLeft(a)))
		}, nil},
		{"run again though it left", func(s *story) {
			s.round()
			s.at(minute).leave()
			s.requeue()
			s.takeOver()
			s.runAgain()
		}, lapses(checker.NothingForgotten, "a record without an execution")},
		{"disabled", func(s *story) {
			crash(s, func() {
				s.commit(registry.Node{Path: tree.ItemDisabled(0)})
				s.takeOver()
			})
		}, nil},
	}, func(c *job.Config) { c.FailoverScope = job.FailoverAssigned })
	judgeAll(t, []chapter{
		{"only what ran", func(s *story) { crash(s, s.takeOver) }, nil},
		{"run again though it did not run", func(s *story) {
			crash(s, func() {
				s.requeue()
				s.takeOver()
				s.runAgain()
			})
		}, lapses(checker.NothingForgotten, "a record without an execution")},
	})
}
