package checker_test

import (
	"testing"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// An execution may begin a little ahead of its fire. Its code waits for that, and is not called of what must not run any more.
func TestExecutionsThatBeginAhead(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	begin := func(before, called time.Duration, meanwhile ...registry.Node) func(s *story) {
		return func(s *story) {
			s.at(-before)
			r := s.begin(0, a, job.Scheduled, fire)
			r.Began = fire.Add(-called)
			if len(meanwhile) > 0 {
				s.at(-before + 20*ms).commit(meanwhile...)
			}
			s.at(0)
			s.end(0, r, jobtree.Success)
			s.other()
		}
	}
	judgeAll(t, []chapter{
		{"its code waits for the fire", begin(100*ms, 0), nil},
		{"its code does not wait", begin(100*ms, 50*ms), lapses(checker.OneExecution, "before its fire came")},
		{"its code does not wait, as its clock was just set back", func(s *story) {
			i := s.at(-second).happen(checker.Misset, a)
			i.Ahead, i.Until = -5*second, fire.Add(second)
			begin(100*ms, 50*ms)(s)
		}, nil},
		{"too early", begin(300*ms, 0), lapses(checker.OneExecution, "before its time")},
		{"its item is disabled meanwhile", begin(180*ms, 0, put(tree.ItemDisabled(0), "", 0)), lapses(checker.Intent, "disabled before its fire came")},
		{"it is when the fire has come, and is confirmed later yet", begin(10*ms, -200*ms, put(tree.ItemDisabled(0), "", 0)), nil},
		{"another item is", begin(180*ms, 0, put(tree.ItemDisabled(1), "", 0)), nil},
	})
}
