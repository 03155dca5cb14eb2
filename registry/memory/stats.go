package memory

import "sync/atomic"

// Stats counts what handles asked of the server. Keep-alives and watch events are not counted.
type Stats struct {
	CommitRequests int // requests that carried transactions, repeated ones included
	Transactions   int // transactions in them, repeated ones included
	ReadRequests   int // Get, List, Children, the first state and every fresh copy of a view
	TimeRequests   int // ServerTime
}

type counters struct{ commits, transactions, reads, times atomic.Int64 }

func (c *counters) stats() Stats {
	return Stats{
		CommitRequests: int(c.commits.Load()),
		Transactions:   int(c.transactions.Load()),
		ReadRequests:   int(c.reads.Load()),
		TimeRequests:   int(c.times.Load()),
	}
}

func (c *counters) commit(transactions int) {
	c.commits.Add(1)
	c.transactions.Add(int64(transactions))
}

// Stats returns what all handles of the server asked so far.
func (s *Server) Stats() Stats { return s.stats.stats() }

// Stats returns what this handle asked so far.
func (r *Registry) Stats() Stats { return r.stats.stats() }
