package scheduler

import "github.com/elasticron/elasticron/internal/jobtree"

// mend puts right what no live session answers for.
func (r *runner) mend() {
	r.carryOut(r.mending.Strays(r.look()))
	r.carryOut(r.mending.RestoreTokens(r.look()))
}

// clearOrphans ends executions that are marked as running under the present session and that nobody runs.
func (r *runner) clearOrphans() {
	r.commitAll(r.mending.Orphans(r.look(), r.idleHere))
}

// idleHere tells whether nothing of an item runs here, and the state shows all that this runner wrote
// of it.
func (r *runner) idleHere(n int) bool {
	if r.claiming && r.claimingOf == n {
		return false // what a claim brought about may be shown before its answer is
	}
	it := r.items[n]
	return it == nil || it.running == nil && it.wrote <= r.applied
}

// tokens are where the fencing tokens start, as far as that is known.
func (r *runner) tokens() jobtree.Tokens {
	tokens, _ := r.mending.Tokens()
	return tokens
}

func (r *runner) tokensKnown() bool {
	_, known := r.mending.Tokens()
	return known
}
