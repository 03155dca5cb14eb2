package etcd

import (
	"context"
	"slices"
	"sync"
)

// pathMutex is one mutex for each path, which is handed on in the order of arrival. The zero value is ready.
type pathMutex struct {
	mu      sync.Mutex
	waiters map[string][]chan struct{} // the first is inside; each is closed when its turn comes
}

// lock waits for the caller's turn, and returns what ends it. It is false if ctx ended first.
func (m *pathMutex) lock(ctx context.Context, path string) (unlock func(), ok bool) {
	turn := m.enqueue(path)
	unlock = sync.OnceFunc(func() { m.dequeue(path, turn) })
	select {
	case <-turn:
		return unlock, true
	case <-ctx.Done():
		unlock()
		return nil, false
	}
}

func (m *pathMutex) enqueue(path string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiters == nil {
		m.waiters = make(map[string][]chan struct{})
	}
	turn := make(chan struct{})
	m.waiters[path] = append(m.waiters[path], turn)
	if len(m.waiters[path]) == 1 {
		close(turn)
	}
	return turn
}

func (m *pathMutex) dequeue(path string, turn chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	queue := m.waiters[path]
	at := slices.Index(queue, turn)
	queue = slices.Delete(queue, at, at+1)
	m.waiters[path] = queue
	switch {
	case len(queue) == 0:
		delete(m.waiters, path)
	case at == 0:
		close(queue[0])
	}
}
