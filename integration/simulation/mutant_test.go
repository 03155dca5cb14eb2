package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// step is a kind of transactions, by the numbers and names that the protocol gives them.
type step string

const (
	join        step = "join"    // T1
	elect       step = "elect"   // T2
	reshard     step = "reshard" // T3
	begin       step = "begin"   // T4
	end         step = "end"     // T5
	declare     step = "declare" // T6
	claim       step = "claim"   // T7
	acknowledge step = "operate" // T9, the acknowledgement of a request
	save        step = "save"    // T10, a checkpoint
	part        step = "part"    // of a large resharding
	tidy        step = "tidy"    // what a large resharding leaves to be done
	leave       step = "leave"
	desked      step = "operation" // T11, of package operate
	event       step = "event"     // not a transaction: what a watch tells of one
	other       step = "other"
)

// stepOf recognises a transaction by what it writes.
func stepOf(txn registry.Txn) step {
	writes := func(kind jobtree.Kind, how ...registry.WriteKind) bool {
		return slices.ContainsFunc(txn.Then, func(w registry.Write) bool {
			name, ok := jobtree.Parse(w.Path)
			return ok && name.Kind == kind && slices.Contains(how, w.Kind)
		})
	}
	switch {
	case writes(jobtree.KindOperated, registry.WritePut):
		return desked
	case writes(jobtree.KindInstance, registry.WritePutOwned):
		return join
	case writes(jobtree.KindInstance, registry.WriteDelete), writes(jobtree.KindLeader, registry.WriteDelete):
		return leave
	case writes(jobtree.KindInstance, registry.WriteUpdate):
		return acknowledge
	case writes(jobtree.KindLeader, registry.WritePutOwned):
		return elect
	case writes(jobtree.KindItemFailover, registry.WritePutOwned):
		return claim
	case writes(jobtree.KindItemRunning, registry.WritePutOwned):
		return begin
	case writes(jobtree.KindItemRunning, registry.WriteDelete):
		return end
	case writes(jobtree.KindItemRecord, registry.WritePut):
		return declare
	case writes(jobtree.KindOffset, registry.WritePut, registry.WriteDelete):
		return save
	case writes(jobtree.KindItemNext, registry.WritePut):
		return part
	case writes(jobtree.KindItemNext, registry.WriteDelete):
		return tidy
	case writes(jobtree.KindEpoch, registry.WritePut), writes(jobtree.KindNecessary, registry.WriteDelete):
		return reshard
	default:
		return other
	}
}

// guard is what one kind of transactions asks of one kind of nodes. What a put in a session implies,
// that the node is absent, cannot be left out: it is the backend's.
type guard struct {
	of step
	on jobtree.Kind
}

// matches tells whether a condition of a transaction is this guard.
func (g guard) matches(txn registry.Txn, c registry.Condition) bool {
	name, ok := jobtree.Parse(c.Path)
	return ok && name.Kind == g.on && stepOf(txn) == g.of
}

// mutant is a registry that leaves guards out of what is committed through it, and is not asked for
// transactions that the code before a mend did not know.
type mutant struct {
	registry.Registry
	without []guard
	unheard func(txn registry.Txn) bool // nil = all are known
	answer  error                       // what they come to; nil = they seem to be done
	deaf    *atomic.Bool                // once a view is refused, it opens none any more; nil = it does
}

// of returns the mutant over the registry of one process.
func (m mutant) of(r registry.Registry) registry.Registry {
	m.Registry = r
	if m.deaf != nil {
		m.deaf = new(atomic.Bool)
	}
	return m
}

// View implements [registry.Viewer].
func (m mutant) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	if m.deaf != nil && m.deaf.Load() {
		return nil, registry.ErrDenied
	}
	view, err := m.Registry.View(ctx, path, except...)
	if m.deaf != nil && errors.Is(err, registry.ErrDenied) {
		m.deaf.Store(true)
	}
	return view, err
}

// Commit implements registry.Committer.
func (m mutant) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if m.unheard != nil && m.unheard(txn) {
		return 0, m.answer
	}
	return m.Registry.Commit(ctx, m.mutate(txn))
}

// CommitAll implements registry.Committer.
func (m mutant) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := make([]registry.Outcome, len(txns))
	var mutated []registry.Txn
	var which []int
	for i, txn := range txns {
		if m.unheard != nil && m.unheard(txn) {
			outcomes[i].Err = m.answer
			continue
		}
		mutated, which = append(mutated, m.mutate(txn)), append(which, i)
	}
	if len(mutated) == 0 {
		return outcomes
	}
	for i, o := range m.Registry.CommitAll(ctx, mutated) {
		outcomes[which[i]] = o
	}
	return outcomes
}

// errUnheard refuses what the code before a mend did not send.
var errUnheard = fmt.Errorf("%w: nobody asks for that", registry.ErrConflict)

func (m mutant) mutate(txn registry.Txn) registry.Txn {
	kept := slices.DeleteFunc(slices.Clone(txn.If), func(c registry.Condition) bool {
		return slices.ContainsFunc(m.without, func(g guard) bool { return g.matches(txn, c) })
	})
	if len(kept) < len(txn.If) && txn.Repeatable() {
		txn.Repeat = registry.RepeatHarmless // what is left out may have been the reason; it is repeated as before
	}
	txn.If = kept
	return txn
}
