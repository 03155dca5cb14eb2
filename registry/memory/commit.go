package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// Commit implements [registry.Committer]. It is one request, and another for every lost answer.
func (r *Registry) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	outcome := r.CommitAll(ctx, []registry.Txn{txn})[0]
	return outcome.Revision, outcome.Err
}

// CommitAll implements [registry.Committer].
func (r *Registry) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	ctx, cancel := r.bind(ctx)
	defer cancel()
	outcomes := make([]registry.Outcome, len(txns))
	var sound []int
	for i, txn := range txns {
		if outcomes[i].Err = r.precheck(txn); outcomes[i].Err == nil {
			sound = append(sound, i)
		}
	}
	for _, q := range pack(r.server.limits, txns, sound) {
		for i, outcome := range r.exchange(ctx, q.txns) {
			outcomes[q.indexes[i]] = outcome
		}
	}
	for i, txn := range txns {
		if outcomes[i].Err != nil {
			outcomes[i].Err = &registry.OpError{Op: registry.OpCommit, Path: firstPath(txn), Err: outcomes[i].Err}
		}
	}
	return outcomes
}

func (r *Registry) precheck(txn registry.Txn) error {
	if err := txn.Check(); err != nil {
		return err
	}
	if err := r.deniedWrite(txn); err != nil {
		return err
	}
	return r.server.limits.check(sizeOf(txn))
}

func firstPath(txn registry.Txn) string {
	if len(txn.Then) == 0 {
		return ""
	}
	return txn.Then[0].Path
}

// exchange has a request's transactions done. Those whose answers are lost and that may be repeated are
// until the server answers or the context ends.
func (r *Registry) exchange(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	since := r.server.now()
	outcomes := make([]registry.Outcome, len(txns))
	open := make([]int, len(txns)) // the transactions without an outcome
	for i := range open {
		open[i] = i
	}
	open, leave := r.takeTurn(ctx, txns, outcomes, open)
	defer leave()
	for try := 0; len(open) > 0; try++ {
		open = r.try(ctx, since, txns, open, outcomes, try > 0)
	}
	return outcomes
}

// try sends the open transactions once and fills in the outcomes that are known after it. It returns
// the transactions that must be tried again.
func (r *Registry) try(ctx context.Context, since registry.Revision, txns []registry.Txn, open []int, outcomes []registry.Outcome, again bool) []int {
	if err := r.link.await(ctx); err != nil {
		fill(outcomes, open, unanswered(err, again))
		return nil
	}
	open = slices.DeleteFunc(slices.Clone(open), func(i int) bool {
		err := sessionOver(txns[i])
		if err != nil && again {
			err = fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, err)
		}
		outcomes[i].Err = err
		return err != nil
	})
	if len(open) == 0 {
		return nil
	}
	answers, err := r.send(ctx, pick(txns, open))
	if err != nil {
		fill(outcomes, open, unanswered(err, true))
		return nil
	}
	if answers == nil {
		return slices.DeleteFunc(slices.Clone(open), func(i int) bool {
			repeatable := txns[i].Repeatable()
			if !repeatable {
				outcomes[i].Err = backend.NotRepeated(errLost)
			}
			return !repeatable
		})
	}
	for k, i := range open {
		outcomes[i] = r.outcome(txns[i], answers[k], since, again)
	}
	return nil
}

// send makes one request. Neither answers nor an error means that the answer was lost.
func (r *Registry) send(ctx context.Context, txns []registry.Txn) ([]answer, error) {
	r.stats.commit(len(txns))
	r.server.stats.commit(len(txns))
	late, ok := r.nextLateness()
	if ok && late.held {
		r.arriveLate(txns, nil, late.late)
		return nil, sleep(ctx, r.settings.tryTimeout)
	}
	var answers []answer
	serve := func(done func()) {
		r.server.pace.carryOut(len(txns), func() {
			answers = r.server.transact(r.prefix, txns)
			if ok {
				r.arriveAgain(txns, answers, late.late)
			}
			done()
		})
	}
	if err := r.link.carryTo(ctx, r.link.spread.aboutTxns(txns), serve, txns...); err != nil {
		return nil, err
	}
	if r.losesAnswer() {
		return nil, sleep(ctx, r.settings.tryTimeout)
	}
	return answers, nil
}

var errLost = errors.New("the answer was lost")

func (r *Registry) losesAnswer() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lose == 0 {
		return false
	}
	r.lose--
	return true
}

// outcome judges an answer. If an earlier try got none, it may be what this one met.
func (r *Registry) outcome(txn registry.Txn, a answer, since registry.Revision, again bool) registry.Outcome {
	r.noticeLoss(txn, a.err)
	if a.err != nil && again {
		a.revision, a.err = backend.Settle(txn, a.err, since, a.found)
	}
	return registry.Outcome{Revision: a.revision, Err: a.err}
}

// sessionOver tells whether this process already knows that a session of the transaction is lost.
func sessionOver(txn registry.Txn) error {
	for _, w := range txn.Then {
		if w.Session != nil && w.Session.State() == registry.SessionLost {
			return w.Session.Err()
		}
	}
	return nil
}

// unanswered is the outcome of a transaction whose waiting ended with cause.
func unanswered(cause error, sent bool) error {
	if sent {
		return fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, cause)
	}
	return unavailable(cause)
}

func fill(outcomes []registry.Outcome, indexes []int, err error) {
	for _, i := range indexes {
		outcomes[i].Err = err
	}
}

func pick(txns []registry.Txn, indexes []int) []registry.Txn {
	picked := make([]registry.Txn, len(indexes))
	for k, i := range indexes {
		picked[k] = txns[i]
	}
	return picked
}
