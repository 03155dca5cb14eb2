package etcd

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// Commit implements [registry.Committer]. Alone it is sent at once; while requests are under way, it
// waits for the next one and travels with whatever else came in the meantime.
func (r *Registry) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	outcome := r.commitAll(ctx, []registry.Txn{txn})[0]
	return outcome.Revision, outcome.Err
}

// CommitAll implements [registry.Committer]. Up to about a hundred small transactions make one
// request, of at most 512 KiB; see the package documentation for what they must not have in common.
func (r *Registry) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	return r.commitAll(ctx, txns)
}

func (r *Registry) commitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := make([]registry.Outcome, len(txns))
	unknown := r.knowRevision(ctx)
	for i, txn := range txns {
		if err := cmp.Or(txn.Check(), unknown); err != nil {
			outcomes[i].Err = r.opError(registry.OpCommit, firstWrite(txn), err)
		}
	}
	for wave := range waves(txns, outcomes) {
		all, commits := make([]commit, len(wave)), make([]*commit, len(wave))
		for k, i := range wave {
			commits[k] = &all[k]
			r.ns.begin(commits[k], txns[i])
		}
		r.queue.submit(ctx, commits)
		for k, i := range wave {
			outcomes[i] = r.queue.wait(ctx, commits[k])
			outcomes[i].Err = r.opError(registry.OpCommit, firstWrite(txns[i]), outcomes[i].Err)
		}
	}
	return outcomes
}

// knowRevision makes sure that some revision of the store is known, by which a commit without an answer is
// told from what was there before it. Only a handle made by New may have to ask.
func (r *Registry) knowRevision(ctx context.Context) error {
	if r.seen.Load() > 0 || r.life.Err() != nil {
		return nil
	}
	_, err := r.revision(ctx)
	return err
}

// waves yields the indices of transactions that may be under way at the same time: as many as follow
// each other without meeting. The next wave must wait for the outcomes of the one before. Those that
// have an error for an outcome already are left out.
func waves(txns []registry.Txn, outcomes []registry.Outcome) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		if len(txns) == 1 && outcomes[0].Err == nil {
			yield([]int{0})
			return
		}
		var wave []int
		footprint := newFootprint()
		for i, txn := range txns {
			if outcomes[i].Err != nil {
				continue
			}
			if footprint.conflictsWith(txn) {
				if !yield(wave) {
					return
				}
				wave, footprint = nil, newFootprint()
			}
			wave = append(wave, i)
			footprint.add(txn)
		}
		if len(wave) > 0 {
			yield(wave)
		}
	}
}

// commit is one transaction on its way.
type commit struct {
	txn      registry.Txn
	sessions []*registry.Session // in which it writes
	outcome  chan registry.Outcome
	self     [1]*commit // the commit, as a list: most groups begin with one, and many end with it

	guards   []registry.Condition // of the transaction
	compares int                  // conditions as etcd counts them
	writes   int                  // as etcd counts them
	bytes    int                  // of keys and values, about

	// The rest belongs to the queue; its mutex guards it.
	since     registry.Revision // the store had reached it before the first try was sent
	mayBeDone bool              // a try without an answer may have been done
	request   *request          // the request that is under way with it; nil if there is none
	alone     bool              // a request that it shared was refused as a whole
	// How many tries that were sent had no answer, and how many requests had had one when the last of them failed.
	unanswered, answersBefore int
	companions                int                       // how many commits its next request has at most, with it; 0 is any number. See [commit.suspect]
	stuck                     bool                      // it had no answer by itself, either
	guessed                   bool                      // it has companions although nobody else had an answer
	abandoned                 func(meaning error) error // why its caller left; nil while it waits
	retry                     retryPolicy
	explains                  bool // its next try has the store read what it looks at, if it is refused
}

// begin makes a zero commit that of a transaction.
func (n namespace) begin(c *commit, txn registry.Txn) {
	c.txn, c.outcome, c.guards, c.self[0] = txn, make(chan registry.Outcome, 1), txn.Guards(), c
	c.compares, c.writes = len(c.guards), len(txn.Then)
	for _, g := range c.guards {
		c.bytes += len(n) + len(g.Path)
	}
	for _, w := range txn.Then {
		c.bytes += len(n) + len(w.Path) + len(w.Value)
		switch w.Kind {
		case registry.WritePut:
			if !w.Unasked { // that no session owns the node
				c.compares++
				c.bytes += len(n) + len(w.Path)
			}
		case registry.WriteDeleteTree: // the root by itself
			c.writes++
		}
		if w.Session != nil && !slices.Contains(c.sessions, w.Session) {
			c.sessions = append(c.sessions, w.Session)
		}
	}
}

// size is what etcd counts against its limit of operations, if so many of the conditions are judged elsewhere: the
// longest of three lists.
func (c *commit) size(elsewhere int) int {
	size := max(c.compares-elsewhere, c.writes)
	if c.explains {
		size = max(size, len(c.lookedAt())+2*len(c.txn.Then))
	}
	return size
}

// puts tells whether the commit writes a node: what it deletes may be absent.
func (c *commit) puts() bool {
	return slices.ContainsFunc(c.txn.Then, func(w registry.Write) bool {
		return w.Kind != registry.WriteDelete && w.Kind != registry.WriteDeleteTree
	})
}

// weight is about how much the store has to do.
func (c *commit) weight() int { return c.compares + c.writes }

// turn is in which order the commit goes. What is set apart goes by its arrival there: else what never gets an answer would be
// the next one again and again.
func (c *commit) turn() registry.Turn {
	if c.companions > 0 {
		return registry.Turn{}
	}
	return c.txn.Turn
}

// lostSession returns why a session that the commit writes in is over, or nil.
func (c *commit) lostSession() error {
	for _, s := range c.sessions {
		if err := s.Err(); err != nil {
			return err
		}
	}
	return nil
}

// lost returns a channel that is closed when a session that the commit writes in is over. One is
// enough: nobody writes in two.
func (c *commit) lost() <-chan struct{} {
	if len(c.sessions) == 0 {
		return nil
	}
	return c.sessions[0].Done()
}

// end tells the caller the outcome. Only the first counts.
func (c *commit) end(o registry.Outcome) {
	select {
	case c.outcome <- o:
	default:
	}
}

func (c *commit) fail(err error) { c.end(registry.Outcome{Err: err}) }

func firstWrite(txn registry.Txn) string {
	if len(txn.Then) == 0 {
		return ""
	}
	return txn.Then[0].Path
}
