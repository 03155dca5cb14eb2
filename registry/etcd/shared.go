package etcd

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// readsInFlight is how many shared requests are under way at a time. Reads that come meanwhile gather for the next one.
	readsInFlight = 4
	// firstShare is how many operations the first shared request may have. The number doubles with every small answer, up
	// to what a server takes. An answer of more than largeAnswer bytes halves it, down to leastShare, which is enough for
	// two reads of subtrees. Nobody knows how much a subtree holds before it is read.
	firstShare  = 8
	leastShare  = 4
	largeAnswer = 4 << 20
)

// sharedReads sends reads that come at the same time in one request: thousands of jobs that start look up thousands of
// subtrees, each of a few nodes. A read that comes alone is sent at once. If a request of several reads is refused, the
// subtree of one of them may be the reason, so each of them is then sent by itself.
//
// While a read stands in the line, only the caller's context bounds its time: the store is not at fault if many reads
// stand before it.
type sharedReads struct {
	r  *Registry
	wg sync.WaitGroup

	mu       sync.Mutex
	line     []*sharedRead
	inFlight int
	share    int // how many operations the next request may have
	closed   bool
}

// sharedRead is a try of one read.
type sharedRead struct {
	ops   []clientv3.Op   // ranges, which are read at one revision
	ctx   context.Context // of the caller, who may leave
	limit time.Duration   // of the try, from when it is sent
	sent  chan struct{}   // closed then
	done  chan struct{}   // closed when the rest is there

	request *sharedRequest // that it travels in; nil while it is in the line

	parts    [][]*mvccpb.KeyValue // one of each range
	revision int64
	err      error
}

// sharedRequest is a request that is under way.
type sharedRequest struct {
	reads   []*sharedRead
	waiters int // reads whose callers wait; guarded by the mutex of sharedReads
	ctx     context.Context
	cancel  context.CancelFunc
}

func newSharedReads(r *Registry) *sharedReads { return &sharedReads{r: r, share: firstShare} }

// read reads ranges, all at one revision. Errors are those of [Registry.repeat].
func (s *sharedReads) read(ctx context.Context, ops ...clientv3.Op) ([][]*mvccpb.KeyValue, int64, error) {
	var mine *sharedRead
	err := s.r.repeatTimed(ctx, func(ctx context.Context, limit time.Duration) error {
		mine = &sharedRead{ops: ops, ctx: ctx, limit: limit, sent: make(chan struct{}), done: make(chan struct{})}
		return s.try(ctx, mine)
	})
	if err != nil {
		return nil, 0, err
	}
	return mine.parts, mine.revision, nil
}

// try sends a read once, for a caller whose context is that of the read.
func (s *sharedReads) try(ctx context.Context, mine *sharedRead) error {
	s.enter(mine)
	select {
	case <-mine.sent:
	case <-ctx.Done():
	}
	waiting, cancel := context.WithTimeout(ctx, mine.limit)
	defer cancel()
	select {
	case <-mine.done:
	case <-waiting.Done():
		if !s.leave(mine) {
			return context.Cause(waiting)
		}
		<-mine.done // at once, and it says what the server failed with
	}
	if mine.err != nil && len(mine.request.reads) > 1 && refusal(mine.err) != nil {
		return within(ctx, mine.limit, func(ctx context.Context) error { return s.ask(ctx, []*sharedRead{mine}) })
	}
	return mine.err
}

// enter puts a read in the line.
func (s *sharedReads) enter(mine *sharedRead) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return // the context of the read ends with the handle
	}
	s.line = append(s.line, mine)
	s.send()
}

// leave notes that nobody waits for a read any more, and breaks its request off if nobody waits for the others in it
// either. It tells whether it did.
func (s *sharedReads) leave(mine *sharedRead) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine.request == nil {
		return false
	}
	mine.request.waiters--
	if mine.request.waiters > 0 {
		return false
	}
	if until, _ := mine.request.ctx.Deadline(); time.Now().Before(until) { // or else it ends by itself, and says so
		mine.request.cancel()
	}
	return true
}

// send sends what is in the line while not too many requests are under way. The caller holds mu.
func (s *sharedReads) send() {
	for s.inFlight < readsInFlight {
		req := s.next()
		if len(req.reads) == 0 {
			req.cancel()
			return
		}
		s.inFlight++
		s.wg.Go(func() { s.carryOut(req) })
	}
}

// next makes a request of the first reads in the line, for as long as the most patient of them waits. The caller holds
// mu.
func (s *sharedReads) next() *sharedRequest {
	req := new(sharedRequest)
	taken, ops := 0, 0
	now := time.Now()
	var deadline time.Time
	for _, one := range s.line {
		if len(req.reads) > 0 && ops+len(one.ops) > s.share {
			break
		}
		taken++
		if one.ctx.Err() != nil {
			continue
		}
		one.request = req
		close(one.sent)
		req.reads = append(req.reads, one)
		ops += len(one.ops)
		until := now.Add(one.limit)
		if end, ends := one.ctx.Deadline(); ends && end.Before(until) {
			until = end
		}
		if until.After(deadline) {
			deadline = until
		}
	}
	s.line = slices.Delete(s.line, 0, taken)
	req.waiters = len(req.reads)
	req.ctx, req.cancel = context.WithDeadline(s.r.life, deadline)
	return req
}

// carryOut makes a request, and lets the next one go.
func (s *sharedReads) carryOut(req *sharedRequest) {
	defer req.cancel()
	err := s.ask(req.ctx, req.reads)
	size := 0
	for _, one := range req.reads {
		size += one.size()
		one.err = err
		close(one.done)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	switch {
	case size > largeAnswer:
		s.share = max(s.share/2, leastShare)
	case err == nil:
		s.share = min(s.share*2, maxOps)
	}
	s.send()
}

// ask sends reads in one request and keeps the answer.
func (s *sharedReads) ask(ctx context.Context, batch []*sharedRead) error {
	var ops []clientv3.Op
	for _, one := range batch {
		ops = append(ops, one.ops...)
	}
	seen := s.r.seen.Load()
	if len(ops) == 1 {
		answer, err := s.r.client.Do(ctx, ops[0])
		if err == nil {
			s.r.seeSince(seen, answer.Get().Header.Revision)
			batch[0].parts, batch[0].revision = [][]*mvccpb.KeyValue{answer.Get().Kvs}, answer.Get().Header.Revision
		}
		return err
	}
	answer, err := s.r.client.Do(ctx, clientv3.OpTxn(nil, ops, nil))
	if err != nil {
		return err
	}
	txn := answer.Txn()
	s.r.seeSince(seen, txn.Header.Revision)
	rest := txn.Responses
	for _, one := range batch {
		for _, part := range rest[:len(one.ops)] {
			one.parts = append(one.parts, part.GetResponseRange().Kvs)
		}
		one.revision = txn.Header.Revision
		rest = rest[len(one.ops):]
	}
	return nil
}

// size is how many bytes the answer has.
func (m *sharedRead) size() (bytes int) {
	for _, part := range m.parts {
		for _, kv := range part {
			bytes += len(kv.Key) + len(kv.Value)
		}
	}
	return bytes
}

// close returns when no request is under way. The contexts of reads have ended with the handle.
func (s *sharedReads) close() {
	s.mu.Lock()
	s.closed, s.line = true, nil
	s.mu.Unlock()
	s.wg.Wait()
}
