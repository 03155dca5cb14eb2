package room

import "github.com/elasticron/elasticron/registry"

// Proposal is a transaction that is to be committed, and what follows from each outcome.
type Proposal struct {
	Step string // names it in logs
	Txn  registry.Txn
	// Alone: it is committed in a request of its own, after what stands before it, and also what the registry will
	// never take is tried again.
	Alone bool
	// Crowds: other jobs come to the same at the same time. It may travel with theirs, if it stands alone.
	Crowds bool
	Under  *Attachment    // under which it is committed, if it stands alone; nil = the present one
	Parts  []registry.Txn // that are committed before it, together, if it stands alone; if one is refused, so is the whole

	Done    func(registry.Outcome) // called if it was done
	Dropped func()                 // called if it was not sent in time; nil = nothing follows
	// Refused is called if it was refused, and tells whether nothing more is to be done about it. If it is nil, or
	// returns false, the runner decides again on a newer state, or later.
	Refused func(error) bool

	Optional bool // a refusal has no consequence
	// Noted: what it is about remembers the revision by itself, so that the next decision need not wait until the
	// state shows it.
	Noted  bool
	Insist bool // also what the registry will never take is tried again
	Apart  bool // a conflict is about this alone, and no reason to look at anything else again
}

// first is the path that is written first, by which a transaction that was denied is known.
func (p *Proposal) first() string {
	if len(p.Txn.Then) == 0 {
		return ""
	}
	return p.Txn.Then[0].Path
}

// Batch is proposals that are decided together and travel in one request, but for those that stand alone. Each has
// its own outcome.
type Batch []Proposal

// Add adds a transaction, with the step that it is and what follows when it was done.
func (b *Batch) Add(step string, txn registry.Txn, done func(registry.Outcome)) {
	*b = append(*b, Proposal{Step: step, Txn: txn, Done: done})
}

// txns are the transactions.
func (b Batch) txns() []registry.Txn {
	txns := make([]registry.Txn, len(b))
	for i, p := range b {
		txns[i] = p.Txn
	}
	return txns
}
