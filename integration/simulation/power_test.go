package simulation_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// TestPower tells how many seeds it takes to notice that a guard is missing, or that the code is as it was
// before a mend. It tries each guard that TestEachGuardIsNeeded needs, and each mend, up to as many seeds as
// -simulation.power says, and fails at none.
func TestPower(t *testing.T) {
	if *power == 0 {
		t.Skip("asked for with -simulation.power=SEEDS")
	}
	for name, m := range mutants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for tried := range *power {
				p := planOf(*first + uint64(tried))
				if *kind != "" && p.kind != *kind {
					continue
				}
				if faults, _ := simulated(t, p, m.of); len(faults) > 0 {
					sound, _ := simulated(t, p, nil)
					require.Empty(t, sound, "seed %d notices something with all guards and mends", p.seed)
					t.Logf("%s: noticed by seed %d, number %d: %.200s", name, p.seed, tried+1, faults[0])
					return
				}
			}
			t.Logf("%s: noticed by none of %d seeds", name, *power)
		})
	}
}

// mutants are what the seeds have to notice: clusters that leave a guard out, and clusters as they were
// before a fault was mended.
func mutants() map[string]mutant {
	all := map[string]mutant{
		"before the mend of checkpoints that went back":         {without: []guard{{save, jobtree.KindOffset}}},
		"before the mend of missed fires lost in a move":        {unheard: notesMissed},
		"before the mend of ends that outlive their session":    {unheard: endsLate, answer: errUnheard},
		"before the mend of what a careless hand leaves behind": {unheard: heals, answer: errUnheard},
		"before the mend of wrong clocks that keep their items": {unheard: leavesByClock, answer: errUnheard},
		"before the mend of views that end":                     {deaf: new(atomic.Bool)},
	}
	for name, x := range breaches() {
		all[name] = mutant{without: x.without}
	}
	for name, kind := range operated {
		all["operation/"+name+" unchanged"] = mutant{without: []guard{{desked, kind}}}
	}
	return all
}

// operated are the nodes that operations of package operate compare. What goes wrong if one does not, a table in that
// package tells: TestEachGuardMatters.
var operated = map[string]jobtree.Kind{
	"operated": jobtree.KindOperated, "config": jobtree.KindConfig, "triggered": jobtree.KindTriggered, "item disabled": jobtree.KindItemDisabled,
	"server": jobtree.KindServer, "instance": jobtree.KindInstance, "record": jobtree.KindItemRecord,
}

// notesMissed tells of the transactions by which those who leave items to others, or know more than the new
// owner, note what was missed.
func notesMissed(txn registry.Txn) bool {
	for _, w := range txn.Then {
		if name, ok := jobtree.Parse(w.Path); !ok || name.Kind != jobtree.KindItemMisfire || w.Kind != registry.WritePut {
			return false
		}
	}
	return len(txn.Then) > 0
}

// endsLate tells of the end of an execution whose mark is gone.
func endsLate(txn registry.Txn) bool {
	if stepOf(txn) != declare {
		return false
	}
	for _, w := range txn.Then {
		if name, ok := jobtree.Parse(w.Path); ok && name.Kind == jobtree.KindItemRecord {
			record, err := jobtree.DecodeRecord(registry.Node{Path: w.Path, Value: w.Value, Revision: 1})
			return err == nil && record.Current != nil && record.Current.Outcome != jobtree.Lost && record.Current.Outcome != ""
		}
	}
	return false
}

// leavesByClock tells of the leave of an instance that goes only as long as another one is there.
func leavesByClock(txn registry.Txn) bool {
	others := 0
	for _, c := range txn.If {
		if name, ok := jobtree.Parse(c.Path); ok && name.Kind == jobtree.KindInstance {
			others++
		}
	}
	return stepOf(txn) == leave && others > 1
}

// heals tells of the removal of a node that no session answers for.
func heals(txn registry.Txn) bool {
	if len(txn.If) != 1 || len(txn.Then) != 1 || txn.Then[0].Kind != registry.WriteDelete || txn.If[0].Path != txn.Then[0].Path {
		return false
	}
	name, ok := jobtree.Parse(txn.Then[0].Path)
	switch name.Kind {
	case jobtree.KindLeader, jobtree.KindInstance, jobtree.KindItemRunning, jobtree.KindItemFailover, jobtree.KindStartedHook,
		jobtree.KindCompletedHook, jobtree.KindProcessing:
		return ok && txn.If[0] == registry.Unchanged(txn.If[0].Path, txn.If[0].Revision)
	default:
		return false
	}
}
