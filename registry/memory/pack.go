package memory

import (
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// request is transactions that may travel together: none of them writes a path that another reads or
// writes, and together they keep within the limits.
type request struct {
	limits  limits
	indexes []int // of the transactions, in the caller's list
	txns    []registry.Txn
	size    size
	read    map[string]struct{}
	written map[string]struct{}
	trees   map[string]struct{} // written as subtrees
}

// size is what limits count.
type size struct{ ops, bytes int }

func sizeOf(txn registry.Txn) size {
	var s size
	conditions := len(txn.Guards())
	for _, c := range txn.If {
		s.bytes += len(c.Path)
	}
	for _, w := range txn.Then {
		s.bytes += len(w.Path) + len(w.Value)
		if w.Kind == registry.WritePut && !w.Unasked {
			conditions++ // that no session owns the node
		}
	}
	s.ops = max(conditions, len(txn.Then))
	return s
}

// check tells whether a transaction of this size can travel at all.
func (l limits) check(s size) error {
	if s.ops > l.ops {
		return fmt.Errorf("%w: %d conditions or writes, at most %d", registry.ErrTooLarge, s.ops, l.ops)
	}
	if s.bytes > l.bytes {
		return fmt.Errorf("%w: %d bytes, at most %d", registry.ErrTooLarge, s.bytes, l.bytes)
	}
	return nil
}

// pack spreads transactions over requests in their order. Only the last request is added to, so a
// transaction never overtakes an earlier one that it clashes with.
func pack(limits limits, txns []registry.Txn, indexes []int) []*request {
	var requests []*request
	for _, i := range indexes {
		last := len(requests) - 1
		if last < 0 || !requests[last].takes(txns[i]) {
			requests = append(requests, newRequest(limits))
			last++
		}
		requests[last].add(i, txns[i])
	}
	return requests
}

func newRequest(limits limits) *request {
	return &request{
		limits: limits,
		read:   make(map[string]struct{}), written: make(map[string]struct{}), trees: make(map[string]struct{}),
	}
}

func (q *request) takes(txn registry.Txn) bool {
	s := sizeOf(txn)
	return len(q.txns)+1+max(q.size.ops, s.ops) <= q.limits.ops &&
		q.size.bytes+s.bytes <= q.limits.bytes &&
		!q.clashes(txn)
}

func (q *request) add(index int, txn registry.Txn) {
	s := sizeOf(txn)
	q.size = size{ops: max(q.size.ops, s.ops), bytes: q.size.bytes + s.bytes}
	q.indexes = append(q.indexes, index)
	q.txns = append(q.txns, txn)
	for _, c := range txn.If {
		q.read[c.Path] = struct{}{}
	}
	for _, w := range txn.Then {
		q.written[w.Path] = struct{}{}
		if w.Kind == registry.WriteDeleteTree {
			q.trees[w.Path] = struct{}{}
		}
	}
}

// clashes tells whether the transaction and one in the request touch the same path, and one of them
// writes it.
func (q *request) clashes(txn registry.Txn) bool {
	for _, c := range txn.If {
		if has(q.written, c.Path) || q.inTree(c.Path) {
			return true
		}
	}
	for _, w := range txn.Then {
		if has(q.written, w.Path) || has(q.read, w.Path) || q.inTree(w.Path) {
			return true
		}
		if w.Kind == registry.WriteDeleteTree && (anyWithin(q.written, w.Path) || anyWithin(q.read, w.Path)) {
			return true
		}
	}
	return false
}

// inTree tells whether path lies in a subtree that the request deletes.
func (q *request) inTree(path string) bool {
	if len(q.trees) == 0 {
		return false
	}
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if has(q.trees, path[:end]) {
			return true
		}
	}
	return false
}

func has(paths map[string]struct{}, path string) bool {
	_, ok := paths[path]
	return ok
}

func anyWithin(paths map[string]struct{}, root string) bool {
	for path := range paths {
		if registry.Within(path, root) {
			return true
		}
	}
	return false
}
