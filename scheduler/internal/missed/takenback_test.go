package missed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// at is a time of the tests, and the minutely fire of that minute.
func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

// clock is right, and stands.
type clock struct {
	room.Clock
	now time.Time
}

func (c clock) Now() time.Time    { return c.now }
func (c clock) Passed() time.Time { return c.now }

// minutely returns what an instance knows of the fires of a job that fires each minute, all of which it ticked from one
// to another, and what it sees of an item of others whose record and note are these.
func minutely(t *testing.T, change func(*job.Config), from, to int, record jobtree.Record, noted ...time.Time) (*Fires, room.View) {
	t.Helper()
	cfg := job.Config{Name: "orders", Cron: "@every 1m", ShardingTotalCount: 1, Misfire: job.MisfireAll}
	if change != nil {
		change(&cfg)
	}
	schedule, err := cfg.Schedule()
	require.NoError(t, err)
	rules := policy.RulesOf(schedule, cfg)
	tree := jobtree.For("orders")
	nodes := []registry.Node{
		{Path: tree.Config(), Value: "{}", Created: 1, Revision: 1},
		{Path: tree.Epoch(), Value: jobtree.EncodeEpoch(jobtree.Epoch{Total: 1}), Created: 2, Revision: 2},
		{Path: tree.ItemRecord(0), Value: jobtree.EncodeRecord(record), Created: 3, Revision: 9},
	}
	if len(noted) > 0 {
		text := jobtree.EncodeMisfire(jobtree.Misfire{Fires: jobtree.MissedFires(noted...)})
		nodes = append(nodes, registry.Node{Path: tree.ItemMisfire(0), Value: text, Created: 8, Revision: 8})
	}
	f := New(nil, nil)
	f.records = true
	f.Ticked(fires.Tick{First: at(from), Fire: at(to)}, true)
	return f, room.View{Facts: &room.Facts{
		Process: &room.Process{Instance: "me", Clock: clock{now: at(to).Add(time.Second)}},
		Tree:    tree, Applied: 9, Config: &cfg, Rules: &rules, Usable: true,
		State: jobtree.StateOf("orders", registry.NewSnapshot(9, nodes)),
	}}
}

// passing returns the record of an item that somebody has begun for the second fire, who did not know of the first, and
// the one after that begin was taken back.
func passing(t *testing.T) (begun, undone jobtree.Record) {
	t.Helper()
	begun, err := jobtree.Record{LastFire: at(0)}.Begin(jobtree.Begin{Instance: "other", Session: 7, Source: job.Misfire, Fire: at(2), Time: at(2)})
	require.NoError(t, err)
	undone, err = begun.Undo(9, at(2))
	require.NoError(t, err)
	return begun, undone
}

// What a begin passed over that is taken back is due again, whether the item came here while it stood or afterwards, of
// what this clock ticked, as far as the policy goes.
func TestWhatABeginPassedOverIsDueAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*job.Config)
		from   int // the first fire that was ticked here
		want   []time.Time
	}{
		"all were ticked":         {nil, 1, []time.Time{at(1), at(2), at(3)}},
		"one came before this":    {nil, 2, []time.Time{at(2), at(3)}},
		"only later ones":         {nil, 3, []time.Time{at(2), at(3)}},
		"one run for all":         {func(cfg *job.Config) { cfg.Misfire = job.MisfireOnce }, 1, []time.Time{at(3)}},
		"none is made up":         {func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip }, 1, nil},
		"no more than are kept":   {func(cfg *job.Config) { cfg.MisfireMax = 2 }, 1, []time.Time{at(2), at(3)}},
		"none that is too old":    {func(cfg *job.Config) { cfg.MisfireWindow = 90 * time.Second }, 1, []time.Time{at(2), at(3)}},
		"nothing of another cron": {func(cfg *job.Config) { cfg.Cron = "@every 3m" }, 1, []time.Time{at(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, undone := passing(t)
			for _, came := range []jobtree.Record{begun, undone} { // the record when the item came
				f, v := minutely(t, tt.change, tt.from, 3, came)
				var it Item
				f.Receive(v, peers.None{}, &it, v.State.Item(0))
				_, v = minutely(t, tt.change, tt.from, 3, undone)
				for range 2 {
					f.Recall(v, &it, v.State.Item(0), v.Clock.Now())
					require.Equal(t, tt.want, v.Rules.Expire(v.Rules.Miss(it.Due), v.Clock.Now()).Missed)
				}
			}
		})
	}
}

// Whoever notes fires of an item while a begin stands that passed over earlier ones, keeps what is noted of those, and
// notes what it knows of them: the begin may be taken back.
func TestWhatABeginPassedOverIsNoted(t *testing.T) {
	t.Parallel()
	begun, undone := passing(t)
	for name, tt := range map[string]struct {
		record jobtree.Record
		noted  []time.Time
		due    []time.Time
		want   []time.Time // that are noted afterwards
	}{
		"others noted it":                {begun, []time.Time{at(1)}, []time.Time{at(3)}, []time.Time{at(1), at(3)}},
		"it is known here":               {begun, nil, []time.Time{at(1)}, []time.Time{at(1)}},
		"the begin has been taken back":  {undone, nil, []time.Time{at(1)}, []time.Time{at(1)}},
		"what had run before is left":    {begun, []time.Time{at(0), at(1)}, []time.Time{at(3)}, []time.Time{at(1), at(3)}},
		"nothing beyond that was missed": {begun, []time.Time{at(1)}, []time.Time{at(0)}, []time.Time{at(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, v := minutely(t, nil, 1, 3, tt.record, tt.noted...)
			after := v.State.Item(0).Misfire.Value
			for _, p := range f.note(v, 0, policy.Due{Missed: tt.due}, func() {}) {
				var err error
				after, err = jobtree.DecodeMisfire(registry.Node{Value: p.Txn.Then[0].Value})
				require.NoError(t, err)
			}
			kept := v.Rules.Noted(after, at(0), f.times)
			require.Equal(t, tt.want, kept)
		})
	}
}
