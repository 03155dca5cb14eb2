package live

import (
	"sync"
	"time"
)

// How many streams there may be.
const (
	MaxStreams       = 2_000
	MaxStreamsOfUser = 20
)

// Limits counts the streams of a process. It is safe for concurrent use.
type Limits struct {
	mu    sync.Mutex
	total int
	users map[string]int

	ofUsers, inAll int64     // that were refused
	told           time.Time // when the log was last told that there are too many in all
}

// tellEvery is how often the log is told that there are too many streams: those that are refused ask again soon.
const tellEvery = time.Minute

// untold tells whether the log is to be told now that a stream is refused because there are too many in all.
func (l *Limits) untold(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.told.IsZero() && now.Sub(l.told) < tellEvery {
		return false
	}
	l.told = now
	return true
}

// NewLimits returns limits with no stream yet.
func NewLimits() *Limits { return &Limits{users: make(map[string]int)} }

// Streams returns how many there are.
func (l *Limits) Streams() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Refused returns how many streams were refused: because their user had too many, or the process.
func (l *Limits) Refused() (ofUsers, inAll int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ofUsers, l.inAll
}

// take counts a stream of a user, unless there are too many of theirs or in all.
func (l *Limits) take(user string) (ofUser, inAll bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.users[user] >= MaxStreamsOfUser:
		l.ofUsers++
		return true, false
	case l.total >= MaxStreams:
		l.inAll++
		return false, true
	}
	l.total++
	l.users[user]++
	return false, false
}

func (l *Limits) giveBack(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.users[user]--; l.users[user] == 0 {
		delete(l.users, user)
	}
}
