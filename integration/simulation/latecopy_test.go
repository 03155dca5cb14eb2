package simulation_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// lateSeeds is how many seeds are tried with a late copy of everything.
const lateSeeds = 16

// Every transaction of every process arrives once more, after a time that is the process's own and goes
// from less than a round trip to minutes. What ends itself, and what says that it creates for good, is
// refused if it was done before; what may be done again does no harm that the history shows, and
// leaves nothing behind.
func TestEveryLateCopyComesToNothing(t *testing.T) {
	t.Parallel()
	census := &census{kinds: make(map[string]int)}
	t.Run("seeds", func(t *testing.T) {
		for s := *first; s < *first+lateSeeds; s++ {
			t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
				t.Parallel()
				for _, fault := range lately(t, planOf(s), census.note) {
					t.Error(fault)
				}
			})
		}
	})
	t.Logf("%d late copies, %d of them carried out", census.copies, census.carriedOut)
	for _, kind := range slices.Sorted(maps.Keys(census.kinds)) {
		t.Logf("%7d %s", census.kinds[kind], kind)
	}
	require.NotZero(t, census.carriedOut)
	for _, kind := range []string{
		"creation: record, running", "ends itself: record, running", "ends itself: instance, leader, necessary",
		"ends itself: epoch, necessary, owner",
		"ends itself: record, wish", "ends itself: claim, record, running, wish",
		"owned: instance, necessary", "owned: leader",
	} {
		require.Contains(t, census.kinds, kind, "the seeds have nothing of it")
	}
	for kind := range census.kinds {
		if !strings.HasPrefix(kind, "ends itself: ") {
			require.NotContains(t, kind, "config", "nobody repeats what creates a job")
		}
		require.NotContains(t, kind, "?", "a kind of node that nobody has thought about")
	}
}

// written names the kinds of nodes that processes write, and repeat.
var written = map[jobtree.Kind]string{
	jobtree.KindInstance: "instance", jobtree.KindLeader: "leader", jobtree.KindNecessary: "necessary",
	jobtree.KindEpoch: "epoch", jobtree.KindItemInstance: "owner", jobtree.KindItemRunning: "running",
	jobtree.KindItemRecord: "record", jobtree.KindItemMisfire: "misfire", jobtree.KindItemFailover: "claim",
	jobtree.KindFailoverItem: "wish", jobtree.KindFailoverLeft: "left", jobtree.KindItemNext: "next",
	jobtree.KindElectionLatch: "latch", jobtree.KindServer: "server", jobtree.KindConfig: "config",
	jobtree.KindOffset: "offset", jobtree.KindItemAside: "aside", jobtree.KindItemDisabled: "disabled",
	jobtree.KindTriggered: "triggered", jobtree.KindOperated: "operated", jobtree.KindTokens: "tokens",
	jobtree.KindStarted: "barrier", jobtree.KindStartedHook: "hook", jobtree.KindCompleted: "barrier", jobtree.KindCompletedHook: "hook",
}

// lately carries a plan out with a late copy of everything, and returns what is wrong.
func lately(t *testing.T, p plan, note func(memory.LateCopy)) []string {
	t.Helper()
	var mu sync.Mutex
	var faults []string
	findings := inBubble(t, p.config, func(t *testing.T, c *cluster) {
		c.server.OnLateCopy(func(l memory.LateCopy) {
			note(l)
			if l.Done && l.Err == nil && mustBeRefused(l.Txn) {
				mu.Lock()
				defer mu.Unlock()
				faults = append(faults, fmt.Sprintf("%s: done twice: %v", time.Since(bubbleStart), l.Txn))
			}
		})
		opened := 0
		c.wrap = func(r registry.Registry) registry.Registry {
			if d, ok := r.(divider); ok { // a process; operators duplicate what the plan says
				d.Registry.(*memory.Registry).DuplicateLater(math.MaxInt, lateBy[opened%len(lateBy)])
				opened++
			}
			return r
		}
		failures := drive(t, c, p)
		time.Sleep(slices.Max(lateBy))
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, failures...)
	})
	for _, f := range findings {
		faults = append(faults, f.String())
	}
	return faults
}

// lateBy is how late the copies of one process are.
var lateBy = []time.Duration{3 * time.Millisecond, 700 * time.Millisecond, 6 * time.Second, 95 * time.Second, 10 * time.Minute}

// mustBeRefused tells whether no state can allow a transaction that was done.
func mustBeRefused(txn registry.Txn) bool {
	return txn.EndsItself() || txn.Repeat == registry.RepeatCreation
}

// census counts what came late.
type census struct {
	mu                 sync.Mutex
	copies, carriedOut int
	kinds              map[string]int // by why they may be repeated, and what they write
}

func (c *census) note(l memory.LateCopy) {
	why := l.Txn.Repeat.String()
	if l.Txn.EndsItself() {
		why = "ends itself"
	}
	var writes []string
	for _, w := range l.Txn.Then {
		name, _ := jobtree.Parse(w.Path)
		kind := written[name.Kind]
		writes = append(writes, cmp.Or(kind, "? "+w.Path))
	}
	slices.Sort(writes)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.copies++
	if l.Err == nil {
		c.carriedOut++
	}
	c.kinds[why+": "+strings.Join(slices.Compact(writes), ", ")]++
}
