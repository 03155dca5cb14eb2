package api

import (
	"maps"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// How many states are kept for those who read them page by page, and for how long after the last page. States share what
// they have in common, so one costs what has changed since.
const (
	mostKept = 32
	keptFor  = time.Minute
)

// keptStates are states of a namespace of which somebody has read a page and not the last one.
type keptStates struct {
	mu   sync.Mutex
	used map[registry.Snapshot]time.Time
}

// keep keeps a state from now on, and forgets those that nobody has asked for lately.
func (k *keptStates) keep(s registry.Snapshot, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.used == nil {
		k.used = make(map[registry.Snapshot]time.Time)
	}
	k.used[s] = now
	for len(k.used) > 0 {
		oldest := s
		for other, at := range k.used {
			if at.Before(k.used[oldest]) {
				oldest = other
			}
		}
		if len(k.used) <= mostKept && now.Sub(k.used[oldest]) < keptFor {
			return
		}
		delete(k.used, oldest)
	}
}

// of returns the state of a revision, and false if it is not kept, or not any more. Whoever asks has the old ones forgotten.
func (k *keptStates) of(revision registry.Revision, now time.Time) (registry.Snapshot, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.used, func(_ registry.Snapshot, at time.Time) bool { return now.Sub(at) >= keptFor })
	for s := range k.used {
		if s.Revision() == revision {
			return s, true
		}
	}
	return registry.Snapshot{}, false
}
