package checker_test

import (
	"testing"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// makeRoom has code make room, and records it as the end says.
func (s *story) makeRoom(r *checker.Run, end jobtree.End) {
	r.Ended, r.Err = s.now, job.ErrYielded
	end.Token, end.Time = r.Context.Token, s.now
	record, err := s.record(0).End(end)
	if err != nil {
		panic(err)
	}
	if s.close(0, record); record.State == jobtree.ItemWaiting {
		s.commit(put(tree.FailoverItem(0), "1", 0))
	}
	s.Reports = append(s.Reports, checker.Report{At: s.now, Instance: r.Instance, Item: 0, Token: r.Context.Token})
}

// Code that makes room has the rest of its work run again, however often, and an end that says anything else is found.
func TestCodeThatMakesRoom(t *testing.T) {
	t.Parallel()
	yielded := jobtree.End{Outcome: jobtree.Interrupted, FailoverLimit: 3, Yielded: true}
	judgeAll(t, []chapter{
		{"five times, and then it is done", func(s *story) {
			s.other()
			r := s.at(0).begin(0, a, job.Scheduled, fire)
			for range 5 {
				s.now = s.now.Add(second)
				s.makeRoom(r, yielded)
				r = s.claim(a)
			}
			s.now = s.now.Add(second)
			s.end(0, r, jobtree.Success)
		}, nil},
		{"recorded as failed", func(s *story) {
			s.other()
			r := s.at(0).begin(0, a, job.Scheduled, fire)
			s.at(second).makeRoom(r, jobtree.End{Outcome: jobtree.Failure})
		}, lapses(checker.NothingForgotten, `code made room with work left, and that is recorded as "failure"`)},
		{"recorded as cut short", func(s *story) {
			s.other()
			r := s.at(0).begin(0, a, job.Scheduled, fire)
			s.at(second).makeRoom(r, jobtree.End{Outcome: jobtree.Interrupted, FailoverLimit: 3})
		}, lapses(checker.NothingForgotten, `code made room with work left, and that is recorded as "interrupted"`)},
		{"left to the next fire", func(s *story) {
			s.other()
			r := s.at(0).begin(0, a, job.Scheduled, fire)
			end := yielded
			end.RestIsOver = true
			s.at(second).makeRoom(r, end)
		}, lapses(checker.NothingForgotten, "the item should be waiting")},
		{"its code did not", func(s *story) {
			s.other()
			r := s.at(0).begin(0, a, job.Scheduled, fire)
			s.at(second).makeRoom(r, yielded)
			r.Err = errFailed
		}, lapses(checker.NothingForgotten, "recorded as one that made room, and its code did not")},
	})
}
