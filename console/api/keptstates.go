package api

import (
	"sync"
	"time"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/registry"
)

// How many states are kept for those who read them page by page, and for how long after a page. States share what they
// have in common, so one costs what has changed since.
const (
	mostKept = 32
	keptFor  = time.Minute
)

// keptStates are states of a namespace that somebody reads page by page. A state goes with its last page, or when its
// reader has asked for no page of it for a while. The zero value keeps none.
type keptStates struct {
	mu  sync.Mutex
	all map[keptKey]*keptState
}

// keptKey names a state of one reader: a reader of many states must not push out those of others.
type keptKey struct {
	reader   string
	revision registry.Revision
}

type keptState struct {
	state registry.Snapshot
	used  time.Time
	over  *time.Timer
}

// readerOf names who reads: a token and a person may have the same name.
func readerOf(who access.Identity) string { return who.How + " " + who.Name }

// keep keeps a state for a reader from now on. If that is one too many, the reader with the most loses the one that was used
// the longest time ago.
func (k *keptStates) keep(reader string, s registry.Snapshot) {
	key := keptKey{reader, s.Revision()}
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.all[key]; e != nil {
		e.used = time.Now()
		e.over.Reset(keptFor)
		return
	}
	if k.all == nil {
		k.all = make(map[keptKey]*keptState)
	}
	k.all[key] = &keptState{state: s, used: time.Now(), over: time.AfterFunc(keptFor, func() { k.tooOld(key) })}
	if len(k.all) > mostKept {
		k.drop(k.leastMissed(key))
	}
}

// leastMissed chooses what goes, and not what was kept just now.
func (k *keptStates) leastMissed(newest keptKey) (least keptKey) {
	held := make(map[string]int)
	for key := range k.all {
		held[key.reader]++
	}
	for key, e := range k.all {
		best := k.all[least]
		switch {
		case key == newest:
		case best == nil, held[key.reader] > held[least.reader],
			held[key.reader] == held[least.reader] && e.used.Before(best.used):
			least = key
		}
	}
	return least
}

// tooOld drops a state that was not used again while its timer ran.
func (k *keptStates) tooOld(key keptKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.all[key]; e != nil && time.Since(e.used) >= keptFor {
		k.drop(key)
	}
}

func (k *keptStates) drop(key keptKey) {
	k.all[key].over.Stop()
	delete(k.all, key)
}

// of returns the state of a revision that is kept for a reader, and false if there is none, or none any more.
func (k *keptStates) of(reader string, revision registry.Revision) (registry.Snapshot, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.all[keptKey{reader, revision}]
	if e == nil {
		return registry.Snapshot{}, false
	}
	return e.state, true
}
