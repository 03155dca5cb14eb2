package etcd

import (
	"context"
	"slices"
	"sync"
)

// lines has callers wait in line, one line a path. The zero value is ready.
type lines struct {
	mu     sync.Mutex
	queues map[string][]chan struct{} // the first is inside; each is closed when its turn comes
}

// enter waits for the caller's turn. It is false if ctx ended first.
func (l *lines) enter(ctx context.Context, path string) (leave func(), ok bool) {
	turn := l.append(path)
	leave = sync.OnceFunc(func() { l.remove(path, turn) })
	select {
	case <-turn:
		return leave, true
	case <-ctx.Done():
		leave()
		return nil, false
	}
}

func (l *lines) append(path string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queues == nil {
		l.queues = make(map[string][]chan struct{})
	}
	turn := make(chan struct{})
	l.queues[path] = append(l.queues[path], turn)
	if len(l.queues[path]) == 1 {
		close(turn)
	}
	return turn
}

func (l *lines) remove(path string, turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[path]
	at := slices.Index(queue, turn)
	queue = slices.Delete(queue, at, at+1)
	l.queues[path] = queue
	switch {
	case len(queue) == 0:
		delete(l.queues, path)
	case at == 0:
		close(queue[0])
	}
}
