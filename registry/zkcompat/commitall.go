package zkcompat

import (
	"context"
	"sync"

	"github.com/elasticron/elasticron/registry"
)

// CommitAll implements [registry.Committer]. Those that follow each other and do not touch each other's paths are with
// the server at once, as few multis.
func (r *Registry) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := make([]registry.Outcome, len(txns))
	for begin := 0; begin < len(txns); {
		end := wave(txns, begin)
		r.commitWave(ctx, txns[begin:end], outcomes[begin:end])
		begin = end
	}
	return outcomes
}

// commitWave commits transactions that do not touch each other's paths.
func (r *Registry) commitWave(ctx context.Context, txns []registry.Txn, outcomes []registry.Outcome) {
	var sound []registry.Txn
	var at []int // where they stand
	for i, txn := range txns {
		if outcomes[i].Err = txn.Check(); outcomes[i].Err == nil && r.life.Err() != nil {
			outcomes[i].Err = registry.ErrClosed
		}
		if outcomes[i].Err == nil {
			sound, at = append(sound, txn), append(at, i)
		}
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	commits := r.queue.submit(ctx, sound...)
	slots := make(chan struct{}, underWay)
	var others sync.WaitGroup
	for i, c := range commits {
		v := r.queue.wait(ctx, c)
		if v.done {
			outcomes[at[i]] = v.outcome
			continue
		}
		slots <- struct{}{}
		others.Go(func() {
			o := &outcomes[at[i]]
			o.Revision, o.Err = r.finish(ctx, c.txn, v)
			<-slots
		})
	}
	others.Wait()
	for i, o := range outcomes {
		outcomes[i].Err = r.opError(registry.OpCommit, firstPath(txns[i]), o.Err)
	}
}

// wave returns the end of the transactions, from begin on, that touch none of each other's paths.
func wave(txns []registry.Txn, begin int) (end int) {
	var f footprint
	for end = begin; end < len(txns); end++ {
		if !f.admit(txns[end]) {
			break
		}
	}
	return max(end, begin+1)
}

// footprint is what transactions read and write.
type footprint struct {
	read, written map[string]bool
	deleted       []string // roots of trees
}

// admit adds a transaction. It is false if that touches what the others do.
func (f *footprint) admit(txn registry.Txn) bool {
	if f.read == nil {
		f.read, f.written = make(map[string]bool), make(map[string]bool)
	}
	for _, c := range txn.Guards() {
		if f.written[c.Path] || f.inTree(c.Path) {
			return false
		}
	}
	for _, w := range txn.Then {
		if f.written[w.Path] || f.read[w.Path] || f.inTree(w.Path) {
			return false
		}
		if w.Kind == registry.WriteDeleteTree && (f.touches(w, f.read) || f.touches(w, f.written)) {
			return false
		}
	}
	for _, c := range txn.If {
		f.read[c.Path] = true
	}
	for _, w := range txn.Then {
		f.written[w.Path] = true
		if w.Kind == registry.WriteDeleteTree {
			f.deleted = append(f.deleted, w.Path)
		}
	}
	return true
}

func (f *footprint) inTree(path string) bool {
	for _, root := range f.deleted {
		if registry.Within(path, root) {
			return true
		}
	}
	return false
}

func (f *footprint) touches(w registry.Write, paths map[string]bool) bool {
	for path := range paths {
		if w.Touches(path) {
			return true
		}
	}
	return false
}
