// Package guarded writes nodes of a job's tree under the condition that each is as it was read, in
// few transactions, each as large as the registry takes it, and writes down with them who did it.
package guarded

import (
	"context"
	"errors"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// Step is one write, and the condition under which it is made.
type Step struct {
	Write registry.Write
	Guard registry.Condition
}

// MaxSteps bounds the steps of one transaction. Each makes two conditions: its guard, and that no session owns what it puts.
// So a note has room beside them.
const MaxSteps = registry.MaxOps/2 - 4

// Writer writes to one registry. It remembers what it has created without an answer: that may be under way
// yet, and is not created once more. Or whoever removes the job later could find it back.
type Writer struct {
	target registry.Committer
	always []registry.Condition
	unsure map[string]error // why, by path
}

// NewWriter returns a writer. Each of its transactions needs those conditions, too; they should be few.
func NewWriter(target registry.Committer, always ...registry.Condition) *Writer {
	return &Writer{target: target, always: always, unsure: make(map[string]error)}
}

// Always has each transaction from now on need those conditions, and no others besides its own. Who writes what belongs to a
// new job names its config node as absent, so that nothing of it is done to a job that somebody else has created meanwhile.
func (w *Writer) Always(always ...registry.Condition) { w.always = always }

// Commit writes all steps in one transaction if they fit, else the last ones in a transaction of their
// own behind the others. Whether they fit, their number says, and a registry that refuses them as too
// large. Last are at most [MaxSteps] and hold the config node: a job without one is no
// job to anybody, so nobody sees a new job before all that is said of it. A note that is not nil is written with
// each of the transactions, and says what was done up to there.
//
// The errors are those of [registry.Committer]. After one, steps of earlier transactions are written. After
// an answer that was lost, again asks to read the result and to call once more with what is
// lacking. If that would create a node for the second time, the error is that of the first.
func (w *Writer) Commit(ctx context.Context, note *Note, first, last []Step) (again bool, err error) {
	all := slices.Concat(first, last)
	if note != nil {
		all = append(all, note.guard())
	}
	for _, s := range all {
		if err := w.unsure[s.Guard.Path]; err != nil && s.creates() {
			return false, err
		}
	}
	if len(first)+len(last) <= MaxSteps {
		again, err = w.commit(ctx, note, slices.Concat(first, last))
		if len(first) == 0 || !errors.Is(err, registry.ErrTooLarge) {
			return again, err
		}
		if alone := w.tooLarge(ctx, last); alone != nil {
			return false, alone
		}
	}
	for part := range slices.Chunk(first, MaxSteps) {
		if again, err := w.inHalves(ctx, note, part); err != nil {
			return again, err
		}
	}
	return w.commit(ctx, note, last)
}

// inHalves writes steps in one transaction or, as long as those are too large for the registry, each half on its own. What is
// too large was not done.
func (w *Writer) inHalves(ctx context.Context, note *Note, steps []Step) (again bool, err error) {
	again, err = w.commit(ctx, note, steps)
	if len(steps) == 1 || !errors.Is(err, registry.ErrTooLarge) {
		return again, err
	}
	half := len(steps) / 2
	if again, err = w.inHalves(ctx, note, steps[:half]); err == nil {
		again, err = w.inHalves(ctx, note, steps[half:])
	}
	return again, err
}

// tooLarge returns the error of a registry that does not take steps in one transaction, as far as [Try] hears of it: nothing
// need be written before them then.
func (w *Writer) tooLarge(ctx context.Context, steps []Step) error {
	if len(steps) == 0 {
		return nil
	}
	var writes []registry.Write
	for _, s := range steps {
		writes = append(writes, s.Write)
	}
	if err := Try(ctx, w.target, writes...); errors.Is(err, registry.ErrTooLarge) {
		return err
	}
	return nil
}

// Try asks a registry whether it would take writes, which are at least one, in one transaction, and makes none of them: it asks
// under conditions of which one never holds. So they are not made later either, by a late copy, whoever dies or sleeps
// meanwhile. A registry that refuses the user, is full, or does not take so much, says so before it looks at conditions.
func Try(ctx context.Context, target registry.Committer, writes ...registry.Write) error {
	path := writes[0].Path
	_, err := target.Commit(ctx, registry.Txn{
		If:     []registry.Condition{registry.Absent(path), registry.Present(path)},
		Then:   writes,
		Repeat: registry.RepeatHarmless,
	})
	if errors.Is(err, registry.ErrConflict) {
		return nil
	}
	return err
}

func (w *Writer) commit(ctx context.Context, note *Note, steps []Step) (again bool, err error) {
	if len(steps) == 0 {
		return false, nil
	}
	txn := registry.Txn{If: slices.Clone(w.always)}
	var written []string
	if note != nil {
		step, done, write := note.with(steps)
		if write {
			steps, written = append(slices.Clone(steps), step), done
		}
		if !slices.Contains(txn.If, note.job) {
			txn.If = append(txn.If, note.job)
		}
	}
	for _, s := range steps {
		if !slices.Contains(txn.If, s.Guard) {
			txn.If = append(txn.If, s.Guard)
		}
		txn.Then = append(txn.Then, s.Write)
	}
	revision, err := w.target.Commit(ctx, txn)
	if err == nil && written != nil {
		note.found, note.done = revision, written // for the next part
	}
	if !errors.Is(err, registry.ErrUnknownOutcome) {
		return false, err
	}
	for _, s := range steps {
		if s.creates() {
			w.unsure[s.Guard.Path] = err
		}
	}
	return ctx.Err() == nil, err
}

func (s Step) creates() bool { return s.Guard.Kind == registry.CondAbsent }
