package rounds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/requests"
)

// A state of some items is asked to show what was written of an item when that keeps something from beginning, or soon
// would, and never otherwise; a state of all items shows it by itself.
func TestWhatWasWrittenIsAwaitedOnlyIfSomethingIsToBegin(t *testing.T) {
	t.Parallel()
	const written = 12
	for name, test := range map[string]struct {
		cron   string
		second int           // of the minute, in which it is decided
		past   time.Duration // the second
		item   item
		asked  bool // for by hand
		whole  bool
		shown  registry.Revision
		want   bool
	}{
		"nothing is due":               {},
		"its fire is due":              {item: dueAt(dawn), want: true},
		"a missed one is":              {item: missing(dawn), want: true},
		"it is asked for":              {asked: true, want: true},
		"it fires soon":                {second: 59, past: 900 * time.Millisecond, want: true},
		"it fires not so soon":         {second: 59},
		"it fires after a delay":       {cron: "@delay 1s", want: true},
		"all items are followed":       {item: dueAt(dawn), whole: true},
		"it is shown":                  {item: dueAt(dawn), shown: written},
		"its fire comes while it runs": {second: 59, past: 950 * time.Millisecond, item: dueAt(dawn), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, v := jobOf(t, "me", "other")
			cfg := job.Config{Cron: "0 * * * * ?"}
			if test.cron != "" {
				cfg.Cron = test.cron
			}
			schedule, err := cfg.Schedule()
			require.NoError(t, err)
			rules := policy.RulesOf(schedule, cfg)
			v.Rules, v.Applied = &rules, max(test.shown, 10)
			if !test.whole {
				v.State.Narrow([]int{0})
			}
			round := &Round{now: dawn.Add(time.Duration(test.second)*time.Second + test.past)}
			if test.asked {
				text, err := jobtree.EncodeTriggered(jobtree.Triggered{Until: dawn.Add(time.Hour)})
				require.NoError(t, err)
				put := registry.Node{Path: v.Tree.Triggered(), Value: text, Created: 11, Revision: 11}
				v.State.Apply(registry.Step{Changes: []registry.Change{{New: put}}})
				round.request = requests.Look(v, r.ports.Traits(), round.now, 0)
			}
			it := test.item
			it.wrote = written
			r.awaitWritten(v, round, &it, v.State.Item(0))
			if test.want {
				require.Equal(t, []registry.Revision{written}, processOf(r).awaited)
			} else {
				require.Empty(t, processOf(r).awaited)
			}
		})
	}
}

func dueAt(fire time.Time) (it item) {
	it.Due.OnTime = fire
	return it
}

func missing(fire time.Time) (it item) {
	it.Due.Missed = []time.Time{fire}
	return it
}
