package checker_test

import (
	"testing"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
)

// call has a hook be called on a.
func (s *story) callHook(phase string, of time.Time, token int64) {
	s.Hooks = append(s.Hooks, checker.Hook{At: s.now, Phase: phase, Instance: a, Round: job.WholeRound{Fire: of, Token: token}})
}

func TestHooks(t *testing.T) {
	t.Parallel()
	judgeAll(t, []chapter{
		{"once each", func(s *story) {
			s.round()
			s.callHook("started", fire, 5)
			s.callHook("completed", fire, 6)
			s.callHook("started", fire.Add(minute), 7)
		}, nil},
		{"twice", func(s *story) {
			s.round()
			s.callHook("started", fire, 5)
			s.callHook("started", fire, 6)
		}, lapses(checker.OneExecution, "called twice for one round")},
		{"with an old token", func(s *story) {
			s.round()
			s.callHook("started", fire, 5)
			s.callHook("started", fire.Add(minute), 5)
		}, lapses(checker.GrowingToken, "no later token")},
	})
}

// A hook is called as soon as its round has come so far, and the code of items waits for the one that is about their start.
func TestWhenHooksAreCalled(t *testing.T) {
	t.Parallel()
	// The items begin at the fire. Their code is called so long after it, and ends a second later.
	round := func(s *story, after time.Duration) {
		zero, one := s.at(0).begin(0, a, job.Scheduled, fire), s.begin(1, b, job.Scheduled, fire)
		zero.Began, one.Began = fire.Add(after), fire.Add(after)
		s.at(after + second)
		s.end(0, zero, "success")
		s.end(1, one, "success")
	}
	hooked := func(phase string, tell func(s *story)) func(s *story) {
		return func(s *story) {
			s.hooks = map[string]time.Duration{phase: 30 * second}
			tell(s)
		}
	}
	judgeAll(t, []chapter{
		{"when all have begun", hooked("started", func(s *story) {
			round(s, second/2)
			s.at(second/4).callHook("started", fire, 5)
		}), nil},
		{"when all have ended", hooked("completed", func(s *story) {
			round(s, 0)
			s.at(5*second/4).callHook("completed", fire, 5)
		}), nil},
		{"not called, and code waits", hooked("started", func(s *story) { round(s, 30*second) }), lapses(checker.NoStall, `hook "started" of the round of 01:00:00.000000 was not called`)},
		{"not called at the end", hooked("completed", func(s *story) { round(s, 0) }), lapses(checker.NoStall, `hook "completed" of the round of 01:00:00.000000 was not called`)},
		{"called late", hooked("completed", func(s *story) {
			round(s, 0)
			s.at(5*second).callHook("completed", fire, 5)
		}), lapses(checker.NoStall, "was not called by then")},
		{"called before all have ended", hooked("completed", func(s *story) {
			round(s, 0)
			s.at(second/2).callHook("completed", fire, 5)
		}), lapses(checker.OneExecution, "before its round had come so far")},
		{"code does not wait", hooked("started", func(s *story) {
			round(s, 0)
			s.at(second/4).callHook("started", fire, 5)
		}), lapses(checker.OneExecution, "before the hook that it waits for")},
		{"code has waited long enough", hooked("started", func(s *story) {
			round(s, 30*second)
			s.at(31*second).callHook("started", fire, 5)
		}), lapses(checker.NoStall, "was not called by then")},
		{"its round took too long", hooked("completed", func(s *story) { round(s, 40*second) }), nil},
	})
}
