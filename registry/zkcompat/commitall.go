package zkcompat

import (
	"context"
	"sync"

	"github.com/elasticron/elasticron/registry"
)

// CommitAll implements [registry.Committer]. Each transaction is a multi of its own; those that follow
// each other and do not touch each other's paths are with the server at once.
func (r *Registry) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := make([]registry.Outcome, len(txns))
	for begin := 0; begin < len(txns); {
		end := wave(txns, begin)
		var wg sync.WaitGroup
		next := make(chan int)
		for range min(end-begin, underWay) {
			wg.Go(func() {
				for i := range next {
					outcomes[i].Revision, outcomes[i].Err = r.Commit(ctx, txns[i])
				}
			})
		}
		for i := begin; i < end; i++ {
			next <- i
		}
		close(next)
		wg.Wait()
		begin = end
	}
	return outcomes
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
