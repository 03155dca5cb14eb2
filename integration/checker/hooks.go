package checker

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// judgeHooks judges the hooks that run once for all instances: each at most once for a round, with tokens
// that grow.
func (j *judge) judgeHooks() {
	if j.hands.touched(NoItem, time.Time{}, j.End, jobtree.KindStarted, jobtree.KindCompleted, jobtree.KindStartedHook, jobtree.KindCompletedHook) {
		return // what the rounds are counted by
	}
	type round struct {
		phase   string
		fire    time.Time
		trigger int64
	}
	called := make(map[round]Hook)
	last := make(map[string]Hook)
	for _, h := range j.Hooks {
		key := round{h.Phase, h.Round.Fire, h.Round.Trigger}
		if first, twice := called[key]; twice {
			j.find(OneExecution, h.At, NoItem, "a hook was called twice for one round", first, h)
		}
		called[key] = h
		if before, is := last[h.Phase]; is && h.Round.Token <= before.Round.Token {
			j.find(GrowingToken, h.At, NoItem, "a hook was given no later token than the one before", before, h)
		}
		last[h.Phase] = h
	}
}

// String tells of the call in one line.
func (h Hook) String() string {
	return fmt.Sprintf("%s token %d: hook %q of the round of %s called on %s", clock(h.At), h.Round.Token, h.Phase, clock(h.Round.Fire), h.Instance)
}
