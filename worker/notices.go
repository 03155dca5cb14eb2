package worker

import (
	"log/slog"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
)

// mostNotices bounds how many wait for who is told. There are more if files are reloaded while nobody listens, and then the
// newest ones count.
const mostNotices = 256

// notices tells somebody how far the worker is, in order. Nobody waits for that: systemd may stand still, and then its socket
// takes nothing more.
type notices struct {
	hear func(state string)
	log  *slog.Logger

	mu      sync.Mutex
	waiting []string
	telling chan struct{} // closed when a goroutine has told all; nil if none tells
	over    bool
}

// tell tells a state, after those before.
func (n *notices) tell(state string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.add(state)
}

// tellAlive feeds the watchdog, unless something is being told: a beat that waits would speak for a moment that is over.
func (n *notices) tellAlive() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.telling == nil {
		n.add("WATCHDOG=1")
	}
}

func (n *notices) add(state string) {
	if n.over {
		return
	}
	n.waiting = append(n.waiting, state)
	if len(n.waiting) > mostNotices {
		n.waiting = n.waiting[1:]
	}
	if n.telling == nil {
		n.telling = make(chan struct{})
		go n.work()
	}
}

func (n *notices) work() {
	for {
		state, more := n.next()
		if !more {
			return
		}
		if err := protect.Call(func() error { n.hear(state); return nil }); err != nil {
			n.log.Warn("systemd was not told", "state", state, "error", err)
		}
	}
}

func (n *notices) next() (state string, more bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) == 0 {
		close(n.telling)
		n.telling = nil
		return "", false
	}
	state, n.waiting = n.waiting[0], n.waiting[1:]
	return state, true
}

// end waits until all is told, at most for so long. Nothing more is told then.
func (n *notices) end(most time.Duration) {
	n.mu.Lock()
	telling := n.telling
	n.mu.Unlock()
	if telling != nil {
		timer := time.NewTimer(most)
		defer timer.Stop()
		select {
		case <-telling:
		case <-timer.C:
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over, n.waiting = true, nil
}
