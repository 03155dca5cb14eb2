package checker_test

import (
	"testing"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// fails has a call of code return an error, so long after the fire.
func (s *story) fails(r *checker.Run, after time.Duration) {
	r.Ended, r.Err = s.at(after).now, errFailed
}

// again calls the code of an execution once more.
func (s *story) again(r *checker.Run, after time.Duration) *checker.Run {
	next := *r
	next.Began, next.Ended, next.Err, next.Cancelled, next.Cause = s.at(after).now, time.Time{}, nil, time.Time{}, nil
	s.runs = append(s.runs, &next)
	return &next
}

// timesOut has a call of code hear that its time is over.
func (s *story) timesOut(r *checker.Run, after time.Duration) {
	r.Cancelled, r.Cause = s.at(after).now, job.ErrTimeout
}

// Code that fails is called again as often as the job says, under the one token that its execution has.
func TestAttempts(t *testing.T) {
	t.Parallel()
	judgeAll(t, []chapter{
		{"tried again", func(s *story) {
			r := runningOn(s)
			s.fails(r, second)
			last := s.again(r, 2*second)
			s.at(3 * second)
			s.end(0, last, jobtree.Success)
		}, nil},
		{"failed at last", func(s *story) {
			r := runningOn(s)
			s.fails(r, second)
			last := s.again(r, 2*second)
			s.at(3 * second)
			s.end(0, last, jobtree.Failure)
		}, nil},
		{"once too often", func(s *story) {
			r := runningOn(s)
			s.fails(r, second)
			s.fails(s.again(r, 2*second), 3*second)
			last := s.again(r, 4*second)
			s.at(5 * second)
			s.end(0, last, jobtree.Success)
		}, lapses(checker.OneExecution, "code was called 3 times, and its job has 1 retries")},
		{"called again though it succeeded", func(s *story) {
			r := runningOn(s)
			s.at(2 * second)
			s.end(0, r, jobtree.Success)
			s.again(r, 2*second).Ended = fire.Add(3 * second)
		}, lapses(checker.OneExecution, "code was called twice for one execution")},
		{"called again while it ran", func(s *story) {
			r := runningOn(s)
			s.again(r, 2*second).Ended = fire.Add(3 * second)
			s.at(4 * second)
			s.end(0, r, jobtree.Failure)
		}, lapses(checker.OneExecution, "code was called twice for one execution")},
		{"not tried again", func(s *story) {
			r := runningOn(s)
			s.at(2 * second)
			s.end(0, r, jobtree.Failure)
		}, lapses(checker.NoStall, "code failed and was not called again")},
		{"not tried again, as it was stopped", func(s *story) {
			r := runningOn(s)
			s.at(2*second).happen(checker.Stopped, a).Until = fire.Add(32 * second)
			s.commit(gone(tree.Instance(a)), gone(tree.Leader()))
			s.takeOver()
			r.Cancelled, r.Cause = fire.Add(32*second), errFailed
			s.at(32 * second)
			s.end(0, r, jobtree.Failure)
		}, nil},
		{"dead while it waited to try again", func(s *story) {
			s.fails(runningOn(s), 2*second)
			s.at(4 * second).crashA()
			s.lost(0)
			s.runAgain()
		}, nil},
	}, func(c *job.Config) { c.Retries, c.RetryBackoff = 1, 30*second })
}

// A timeout ends the context of code when its time is over, and not before.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	judgeAll(t, []chapter{
		{"in time", func(s *story) { s.round() }, nil},
		{"told", func(s *story) {
			r := runningOn(s)
			s.timesOut(r, 10*second)
			s.at(20 * second)
			s.end(0, r, jobtree.Failure)
		}, nil},
		{"told too early", func(s *story) {
			r := runningOn(s)
			s.timesOut(r, 9*second)
			s.end(0, r, jobtree.Failure)
		}, lapses(checker.StoppedWork, "told that its time is over before it was")},
		{"not told", func(s *story) {
			r := runningOn(s)
			s.at(20 * second)
			s.end(0, r, jobtree.Success)
		}, lapses(checker.StoppedWork, "the time of the code was over and it was not told")},
		{"told, and its session is lost", func(s *story) { // it cannot be told twice
			r := runningOn(s)
			s.timesOut(r, 10*second)
			s.at(12*second).happen(checker.Expired, a)
			s.drop(ofA)
			s.commit(put(tree.Instance(a), "", ofC))
			s.takeOver()
			r.Ended, r.Err = fire.Add(20*second), errFailed
			s.at(13 * second)
			s.lost(0)
			s.runAgain()
		}, nil},
		{"told, and it runs elsewhere", func(s *story) {
			r := runningOn(s)
			s.timesOut(r, 10*second)
			r.Ended, r.Err = fire.Add(20*second), errFailed
			s.at(12 * second)
			record := s.record(0)
			s.commit(gone(tree.ItemRunning(0)))
			s.write(0, record).Ended = fire.Add(13 * second)
		}, lapses(checker.OneHolder, "over one that was recorded as running")},
	}, func(c *job.Config) { c.Timeout = 10 * second })
}
