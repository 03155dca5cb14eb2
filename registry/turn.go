package registry

import "time"

// Turn says when a transaction is sent while more of them wait than the store takes at a time. A handle
// sends what has the lowest rank first; among those of one rank, the shares take turns; within a share
// it goes by arrival. Where nothing waits a turn changes nothing. The zero Turn goes first, whenever
// that is.
type Turn struct {
	// Rank is how urgent the transaction is.
	Rank Rank
	// Share is on whose behalf it is sent: a job's name. No share waits for all that another has asked for.
	Share string
	// Until is the time from which the transaction makes no sense any more; zero is never. One that has
	// not been sent by then never is, and ends with [ErrNotSent]. One that was sent is settled, however
	// late its answer comes. A time with a monotonic reading, as [time.Now] gives it, is compared by
	// that, so that a wall clock that is set changes nothing.
	Until time.Time
}

// Rank orders transactions by how urgent they are.
type Rank uint8

// The ranks, the most urgent first.
const (
	// RankFirst is what keeps the cluster in order: ends, members, assignments of not too many items.
	RankFirst Rank = iota
	// RankWork is what begins work that is due, and the checkpoints of what runs.
	RankWork
	// RankBacklog is what begins work that is late already. While some waits, one of four that go is of it.
	RankBacklog
	// RankLast is what can wait, such as clearing up: it goes while nothing else waits.
	RankLast
	// Ranks is how many there are.
	Ranks = iota
)

// Over tells whether it makes no sense any more to send the transaction now.
func (t Turn) Over(now time.Time) bool { return !t.Until.IsZero() && !now.Before(t.Until) }
