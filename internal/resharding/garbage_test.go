package resharding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// recordOf is the record of an item that ran at noon and is now in a state.
func recordOf(state jobtree.ItemState) string {
	record := jobtree.Record{
		State: state, LastFire: noon,
		Current: &jobtree.Execution{Instance: "a@-@1", Session: 1, Source: job.Scheduled, Fire: noon, Begin: noon, Failover: true},
	}
	if state == jobtree.ItemRunning {
		record.Before = &jobtree.Before{State: jobtree.ItemIdle}
	}
	return jobtree.EncodeRecord(record)
}

func missed(newest time.Time) string {
	return jobtree.EncodeMisfire(jobtree.Misfire{Fires: jobtree.MissedFires(noon.Add(-time.Hour), newest)})
}

// Each row starts with instance a, which owns the only item, and nothing to remove.
func TestGarbage(t *testing.T) {
	t.Parallel()
	record, misfire, wish, surplus := tree.ItemRecord(0), tree.ItemMisfire(0), tree.FailoverItem(0), tree.ItemRecord(1)
	put := func(paths ...string) func(*world) { // paths and values in turn
		return func(w *world) {
			for i := 0; i < len(paths); i += 2 {
				w.do(registry.Put(paths[i], paths[i+1]))
			}
		}
	}
	idle := recordOf(jobtree.ItemIdle)
	for name, test := range map[string]struct {
		change func(*world)
		want   string // the path of what goes; none if empty
		also   string // the path of what must be as it was read, beside that
	}{
		"an instance that no session owns":  {put(tree.Instance("b@-@1"), ""), tree.Instance("b@-@1"), ""},
		"an instance lives":                 {func(w *world) { w.join("b") }, "", ""},
		"a server of which nothing is said": {put(tree.Server("b"), ""), tree.Server("b"), ""},
		"a disabled server":                 {put(tree.Server("b"), "DISABLED"), "", ""},
		"the server of an instance":         {put(tree.Server("a"), ""), "", ""},
		"an enabled server where new ones are not": {
			func(w *world) {
				w.configure(func(c *job.Config) { c.Disabled = true })
				w.do(registry.Put(tree.Server("b"), ""))
			}, "", "",
		},
		"a wish of an item that never ran":           {put(wish, ""), wish, record},
		"a wish of an idle item":                     {put(wish, "", record, idle), wish, record},
		"a wish of an item that runs":                {put(wish, "", record, recordOf(jobtree.ItemRunning)), wish, record},
		"a wish of an item that was given up":        {put(wish, "", record, recordOf(jobtree.ItemInterrupted)), wish, record},
		"a wish of an item that waits":               {put(wish, "", record, recordOf(jobtree.ItemWaiting)), "", ""},
		"a wish of who knows what":                   {put(wish, "", record, "{"), "", ""},
		"missed fires that were run":                 {put(misfire, missed(noon), record, idle), misfire, record},
		"missed fires for which an item runs":        {put(misfire, missed(noon), record, recordOf(jobtree.ItemRunning)), "", ""},
		"missed fires of which the last was not run": {put(misfire, missed(noon.Add(1)), record, idle), "", ""},
		"missed fires of an item that never ran":     {put(misfire, missed(noon)), "", ""},
		"missed fires, nobody knows which":           {put(misfire, "", record, idle), "", ""},
		"missed fires that cannot be read":           {put(misfire, "{", record, idle), "", ""},
		"missed fires of who knows what":             {put(misfire, missed(noon), record, "{"), "", ""},
		"the record of an item that counts":          {put(record, idle), "", ""},
		"the record of a surplus item":               {put(surplus, idle), surplus, tree.ItemRunning(1)},
		"a surplus record that waits":                {put(surplus, recordOf(jobtree.ItemWaiting)), surplus, tree.ItemRunning(1)},
		"a surplus record of one that runs":          {put(surplus, recordOf(jobtree.ItemRunning)), "", ""},
		"a surplus record that cannot be read":       {put(surplus, "{"), "", ""},
		"a surplus record beside a mark": {
			func(w *world) {
				w.do(registry.Put(surplus, idle), registry.PutOwned(tree.ItemRunning(1), "a@-@1", w.session))
			}, "", "",
		},
		"a record that is surplus by the settings only": {
			func(w *world) {
				put(tree.Epoch(), `{"term":1,"counter":1,"total":2}`, surplus, idle)(w)
			}, "", "",
		},
		"a record that is surplus by the epoch only": {
			func(w *world) {
				w.configure(func(c *job.Config) { c.ShardingTotalCount = 2 })
				w.do(registry.Put(surplus, idle))
			}, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.join("a")
			w.reshard(averagely)
			test.change(w)
			txns := resharding.GarbageOf(w.state(), w.term, noon.Add(time.Minute), 100).Txns
			if test.want == "" {
				require.Empty(t, txns)
				return
			}
			guards := []registry.Condition{
				registry.CreatedAt(tree.Leader(), w.term),
				registry.Unchanged(test.want, w.revisionOf(test.want)),
			}
			if test.also != "" {
				guards = append(guards, registry.Unchanged(test.also, w.state().Item(0).Record.Revision))
			}
			if test.want == surplus {
				guards = append(guards,
					registry.Unchanged(tree.Epoch(), w.revisionOf(tree.Epoch())), registry.Unchanged(tree.Config(), w.revisionOf(tree.Config())))
			}
			require.Equal(t, []registry.Txn{{If: guards, Then: []registry.Write{registry.Delete(test.want)}}}, txns)
			require.Nil(t, w.commit(txns...))
			require.Empty(t, resharding.GarbageOf(w.state(), w.term, noon.Add(time.Minute), 100).Txns)
		})
	}
}

// A surplus item's record tells which fires were run, so it stays while any clock may tick one of
// them yet.
func TestASurplusRecordStaysForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.do(registry.Put(tree.ItemRecord(1), recordOf(jobtree.ItemIdle)))
	for before, want := range map[time.Time]int{noon.Add(-1): 0, noon: 0, noon.Add(1): 1} {
		require.Len(t, resharding.GarbageOf(w.state(), w.term, before, 100).Txns, want, before)
	}
}

// It also tells for which request by hand the item ran: as long as that lasts by any clock, the item may come back.
func TestASurplusRecordStaysWhileItsRequestLasts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ran  registry.Revision // as far as that is from the one that stands
		want map[time.Duration]int
	}{
		"it has run":               {0, map[time.Duration]int{1: 0, time.Hour: 0, time.Hour + 1: 1}},
		"it has run for one later": {1, map[time.Duration]int{1: 0, time.Hour: 0, time.Hour + 1: 1}},
		"it has not":               {-1, map[time.Duration]int{1: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			text, err := jobtree.EncodeTriggered(jobtree.Triggered{Until: noon.Add(time.Hour)})
			require.NoError(t, err)
			w.do(registry.Put(tree.Triggered(), text))
			record, err := jobtree.DecodeRecord(registry.Node{Revision: 1, Value: recordOf(jobtree.ItemIdle)})
			require.NoError(t, err)
			record.Trigger = w.revisionOf(tree.Triggered()) + test.ran
			w.do(registry.Put(tree.ItemRecord(1), jobtree.EncodeRecord(record)))
			for after, want := range test.want {
				require.Len(t, resharding.GarbageOf(w.state(), w.term, noon.Add(after), 100).Txns, want, after)
			}
		})
	}
}

func TestEachGuardOfARemovalMatters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		garbage map[string]string
		change  func(*world)
		refused string // the path of the guard
	}{
		"another leads":             {map[string]string{tree.Server("b"): ""}, (*world).lead, tree.Leader()},
		"a server is disabled":      {map[string]string{tree.Server("b"): ""}, func(w *world) { w.disable("b") }, tree.Server("b")},
		"an instance is put anew":   {map[string]string{tree.Instance("b@-@1"): ""}, func(w *world) { w.rewrite(tree.Instance("b@-@1")) }, tree.Instance("b@-@1")},
		"an item that wishes waits": {map[string]string{tree.FailoverItem(0): ""}, func(w *world) { w.rewrite(tree.ItemRecord(0)) }, tree.ItemRecord(0)},
		"a new wish":                {map[string]string{tree.FailoverItem(0): ""}, func(w *world) { w.rewrite(tree.FailoverItem(0)) }, tree.FailoverItem(0)},
		"another fire is missed": {
			map[string]string{tree.ItemMisfire(0): missed(noon), tree.ItemRecord(0): recordOf(jobtree.ItemIdle)},
			func(w *world) { w.rewrite(tree.ItemMisfire(0)) }, tree.ItemMisfire(0),
		},
		"a begin was taken back": {
			map[string]string{tree.ItemMisfire(0): missed(noon), tree.ItemRecord(0): recordOf(jobtree.ItemIdle)},
			func(w *world) { w.rewrite(tree.ItemRecord(0)) }, tree.ItemRecord(0),
		},
		"a surplus item ended": {
			map[string]string{tree.ItemRecord(1): recordOf(jobtree.ItemIdle)},
			func(w *world) { w.rewrite(tree.ItemRecord(1)) }, tree.ItemRecord(1),
		},
		"a surplus item began": {
			map[string]string{tree.ItemRecord(1): recordOf(jobtree.ItemIdle)},
			func(w *world) { w.do(registry.PutOwned(tree.ItemRunning(1), "a@-@1", w.session)) }, tree.ItemRunning(1),
		},
		"a surplus item is back": {
			map[string]string{tree.ItemRecord(1): recordOf(jobtree.ItemIdle)},
			func(w *world) { w.do(registry.Put(tree.Epoch(), `{"term":1,"counter":1,"total":2}`)) }, tree.Epoch(),
		},
		"a surplus item is to come back": {
			map[string]string{tree.ItemRecord(1): recordOf(jobtree.ItemIdle)},
			func(w *world) { w.configure(func(c *job.Config) { c.ShardingTotalCount = 2 }) }, tree.Config(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			for path, value := range test.garbage {
				w.do(registry.Put(path, value))
			}
			txns := resharding.GarbageOf(w.state(), w.term, noon.Add(time.Minute), 100).Txns
			require.Len(t, txns, 1)
			test.change(w)
			refusal := w.commit(txns...)
			require.NotNil(t, refusal)
			require.Equal(t, test.refused, refusal.Path)
		})
	}
}

// All of it at once is one transaction each: what was overtaken keeps nothing else from going.
func TestGarbageGoesPieceByPiece(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.do(
		registry.Put(tree.Server("b"), ""), registry.Put(tree.Instance("c@-@1"), ""), registry.Put(tree.FailoverItem(0), ""),
		registry.Put(tree.ItemRecord(1), recordOf(jobtree.ItemWaiting)), registry.Put(tree.ItemRecord(2), recordOf(jobtree.ItemIdle)),
	)
	txns := resharding.GarbageOf(w.state(), w.term, noon.Add(time.Minute), 100).Txns
	require.Len(t, txns, 5)
	w.rewrite(tree.Server("b"))
	refused := 0
	for _, txn := range txns {
		if w.commit(txn) != nil {
			refused++
		}
	}
	require.Equal(t, 1, refused)
	require.Len(t, resharding.GarbageOf(w.state(), w.term, noon.Add(time.Minute), 100).Txns, 1)
}
