package memory

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// commit is one revision of the store and what it changed, with full paths.
type commit struct {
	revision registry.Revision
	at       time.Time
	events   []backend.Event
}

// history remembers the last commits, from which handles catch up. It is guarded by the server's
// lock; what it hands out is never changed afterwards.
type history struct {
	commits  []commit
	complete registry.Revision // every commit after this one is there
	limit    int
}

func (h *history) add(c commit) {
	h.commits = append(h.commits, c)
	if len(h.commits) > 2*h.limit {
		h.forget(h.commits[len(h.commits)-h.limit-1].revision)
	}
}

// forget drops the commits up to revision.
func (h *history) forget(revision registry.Revision) {
	h.commits = slices.Clone(h.commits[h.after(revision):])
	h.complete = max(h.complete, revision)
}

// since returns the commits after revision; false if some of them are forgotten.
func (h *history) since(revision registry.Revision) ([]commit, bool) {
	if revision < h.complete {
		return nil, false
	}
	rest := h.commits[h.after(revision):]
	return rest[:len(rest):len(rest)], true
}

func (h *history) after(revision registry.Revision) int {
	i, _ := slices.BinarySearchFunc(h.commits, revision+1, func(c commit, r registry.Revision) int {
		return int(c.revision - r)
	})
	return i
}
