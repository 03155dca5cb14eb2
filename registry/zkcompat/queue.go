package zkcompat

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
	"github.com/elasticron/elasticron/registry/internal/turns"
)

const (
	// multisUnderWay is how many multis of many transactions are with the server at once. Some overlap keeps it
	// busy; the more there are, the less do those that wait gather.
	multisUnderWay = 4
	// A multi holds so many transactions at most, and takes no more once it has so many bytes. Beyond, more of them
	// save next to nothing.
	mostTogether  = 256
	mostBytes     = 64 << 10
	leastTogether = 8
	// lookAhead bounds how many transactions that touch what others do are passed over when a multi is filled.
	lookAhead = 32
)

// queue gathers transactions into multis. It takes those of which views show all that they concern, and that hold
// as far as views show; all others go on by themselves, as an [attempt], and so does each whose operation fails a multi. A
// multi fails as a whole, so after one that failed fewer go together, for a while.
//
// Transactions share a multi only if none touches what another does. Each was judged on the state before the multi, so
// otherwise the operations of the later one would fail.
type queue struct {
	r    *Registry
	wg   sync.WaitGroup
	wake chan struct{} // holds one

	mu       sync.Mutex
	pending  turns.Line[*commit]
	underWay int
	together int // how many transactions the next multi may have
}

// commit is a transaction in the queue.
type commit struct {
	txn     registry.Txn
	verdict chan verdict // holds one
	state   commitState  // guarded by the queue's mutex, like left
	left    bool         // nobody waits for it any more, but a multi has it
}

type commitState uint8

const (
	commitWaits commitState = iota
	commitTaken             // by a multi, or to go on by itself
	commitGone              // nobody waits for it any more
)

// verdict is what the queue came to: an outcome, or with what the transaction goes on by itself.
type verdict struct {
	done    bool
	outcome registry.Outcome

	fresh bool // what views show does not do
	lost  bool // a multi with it got no answer
	since registry.Revision
	err   error // what the multi came to
}

func newQueue(r *Registry) *queue {
	return &queue{r: r, wake: make(chan struct{}, 1), together: mostTogether}
}

// submit puts well-formed transactions into the queue. If ctx has ended, it does not: they would be sent if their turn came
// before their callers took them back.
func (q *queue) submit(ctx context.Context, txns ...registry.Txn) []*commit {
	commits := make([]*commit, len(txns))
	q.mu.Lock()
	for i, txn := range txns {
		commits[i] = &commit{txn: txn, verdict: make(chan verdict, 1)}
		if ctx.Err() != nil {
			commits[i].verdict <- verdict{done: true, outcome: registry.Outcome{Err: remote.GivenUp(ctx, registry.ErrUnavailable, nil)}}
			continue
		}
		q.pending.Add(txn.Turn, commits[i])
	}
	q.mu.Unlock()
	q.wakeUp()
	return commits
}

func (q *queue) wakeUp() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// wait returns what the queue came to. If the turn of the transaction or ctx ends first, it is not sent any more; if it
// was, its outcome is unknown.
func (q *queue) wait(ctx context.Context, c *commit) verdict {
	select {
	case v := <-c.verdict:
		return v
	default:
	}
	over, stop := turns.After(c.txn.Turn)
	defer stop()
	for {
		select {
		case v := <-c.verdict:
			return v
		case <-over:
			over = nil
			if q.withdraw(c, false) { // else a multi has it, and if it comes back from there, take says the same
				return verdict{done: true, outcome: registry.Outcome{Err: registry.ErrNotSent}}
			}
		case <-ctx.Done():
			if q.withdraw(c, true) {
				return verdict{}
			}
			return verdict{lost: true}
		}
	}
}

// withdraw takes a transaction back. It is false if it was taken before; then leaving tells whether nobody waits for
// it any more.
func (q *queue) withdraw(c *commit, leaving bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.state != commitWaits {
		c.left = leaving
		return false
	}
	c.state = commitGone
	q.pending.Leave(func(c *commit) bool { return c.state == commitGone })
	return true
}

// run sends multis until the handle is closed.
func (q *queue) run() {
	for q.r.life.Err() == nil {
		for q.r.life.Err() == nil && q.next() {
		}
		select {
		case <-q.wake:
		case <-q.r.life.Done():
		}
	}
}

// next sends a multi, or has transactions go on by themselves. It is false if there is nothing to do for now.
func (q *queue) next() bool {
	l, epoch, ok := q.r.keeper.present()
	var w *wire
	if ok {
		w = l.present(epoch)
	}
	b := &batch{q: q, link: l, epoch: epoch, checks: make(map[string]int)}
	taken, more := q.take(b)
	for i, c := range taken {
		if b.size >= mostBytes {
			q.mu.Lock()
			q.putBack(taken[i:])
			q.mu.Unlock()
			break
		}
		if w == nil || !b.add(c) {
			c.verdict <- verdict{}
		}
	}
	if len(b.parts) > 0 {
		b.send(w)
	}
	return more
}

// take takes out what may go in one multi. It is false if nothing is to be done.
func (q *queue) take(b *batch) (taken []*commit, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.underWay >= multisUnderWay {
		return nil, false
	}
	var apart []*commit // that touch what others do
	now := time.Now()
	for len(taken) < q.together && len(apart) < lookAhead {
		c, ok := q.pending.Take()
		if !ok {
			break
		}
		switch {
		case c.state == commitGone:
		case c.txn.Turn.Over(now):
			c.state = commitTaken
			c.verdict <- verdict{done: true, outcome: registry.Outcome{Err: registry.ErrNotSent}}
		case !b.footprint.admit(c.txn):
			apart = append(apart, c)
		default:
			c.state = commitTaken
			taken = append(taken, c)
		}
	}
	q.putBack(apart)
	return taken, len(taken) > 0
}

// putBack has transactions go before all others of their rank. The caller holds mu.
func (q *queue) putBack(commits []*commit) {
	for _, c := range slices.Backward(commits) {
		if !c.left {
			c.state = commitWaits
			q.pending.Return(c.txn.Turn, c)
		}
	}
}

// begin counts a multi.
func (q *queue) begin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.underWay++
}

// ended takes note that a multi is answered, and puts those back that have to go again.
func (q *queue) ended(again []*commit, failed bool) {
	q.mu.Lock()
	q.underWay--
	if failed {
		q.together = max(leastTogether, q.together/2)
	} else {
		q.together = min(mostTogether, 2*q.together)
	}
	q.putBack(again)
	q.mu.Unlock()
	q.wakeUp()
}

// batch is a multi in the making, and then under way.
type batch struct {
	q     *queue
	link  *link
	epoch int
	since registry.Revision // that the store had reached before it was sent

	footprint footprint
	parts     []part
	claims    []*ephemeralClaim
	ops       []any
	users     [][]*commit    // of each operation
	checks    map[string]int // which operation checks a znode
	size      int
}

// part is one transaction of a batch.
type part struct {
	commit *commit
	tells  int // which operation of the batch returns the revision; -1 if none does
}

// add adds a transaction if views show that it holds.
func (b *batch) add(c *commit) bool {
	a := attempt{r: b.q.r, txn: c.txn}
	if a.sessionLost(b.link) != nil {
		return false
	}
	s, ok := b.q.r.glance(b.link, b.epoch, c.txn)
	if !ok || s.refusal(0) != nil {
		return false
	}
	p, err := s.plan()
	if err != nil || len(p.ops) == 0 || len(p.made) > 0 || b.size+p.size > maxRequest {
		return false
	}
	claim, err := b.link.ephemerals.claimOf(p.ops)
	if err != nil { // by itself, it has the server asked whether that is so
		return false
	}
	b.claims = append(b.claims, claim)
	b.merge(c, p)
	return true
}

// merge adds the operations of a transaction. A znode is checked once.
func (b *batch) merge(c *commit, p *plan) {
	one := part{commit: c, tells: -1}
	for i, op := range p.ops {
		if check, is := op.(*zk.CheckVersionRequest); is {
			if at, known := b.checks[check.Path]; known && b.ops[at].(*zk.CheckVersionRequest).Version == check.Version {
				b.users[at] = append(b.users[at], c)
				continue
			}
			b.checks[check.Path] = len(b.ops)
		}
		if i == p.tells {
			one.tells = len(b.ops)
		}
		b.ops = append(b.ops, op)
		b.users = append(b.users, []*commit{c})
	}
	b.size += p.size
	b.parts = append(b.parts, one)
}

// send has the server do the multi.
func (b *batch) send(w *wire) {
	b.q.begin()
	b.since = b.link.seen()
	hub := b.q.r.hub
	write, begun := newWrite(b.ops), b.link.clock()
	hub.hearWrite(news{kind: writeSent, link: b.link, epoch: b.epoch, write: write})
	sent := w.request(opMulti, multiRequest(b.ops, b.size), func(a answer) {
		results, err := b.read(a)
		b.settle(err)
		if err == nil {
			b.q.r.keeper.committed(b.link, b.epoch, begun)
			write.take(b.ops, results)
		}
		answer := news{kind: writeAnswered, link: b.link, epoch: b.epoch, write: write}
		if a.err != zk.ErrConnectionClosed { //nolint:errorlint // it is made here
			answer.at = b.link.seen()
		}
		hub.hearWrite(answer) // before anybody goes on from there
		b.answered(results, err)
	})
	if !sent {
		b.settle(&failure{})
		hub.hearWrite(news{kind: writeAnswered, link: b.link, epoch: b.epoch, write: write})
		b.release(b.commits(), verdict{})
		b.q.ended(nil, false)
	}
}

// settle counts what the session holds: before anybody decides by the answer what to create or delete next.
func (b *batch) settle(err error) {
	fate := fateUnknown
	if _, failed := err.(*failure); failed { //nolint:errorlint // it is made here
		fate = fateUndone
	} else if err == nil {
		fate = fateDone
	}
	for _, claim := range b.claims {
		claim.settle(fate)
	}
}

// failure tells that an operation of a multi failed, and so the whole of it.
type failure struct {
	at   int
	code int32
}

// Error names the error of the server.
func (f *failure) Error() string { return errorOf(f.code).Error() }

// read returns what became of the operations, or the error by which none was done.
func (b *batch) read(a answer) ([]result, error) {
	if a.err != nil {
		return nil, a.err
	}
	results, err := results(a.body, len(b.ops))
	for i, r := range results {
		if r.code != 0 && r.code != codeInconsistent {
			return nil, &failure{i, r.code}
		}
	}
	return results, err
}

// answered tells everybody what became of their transactions.
func (b *batch) answered(results []result, err error) {
	if err == nil {
		for _, p := range b.parts {
			revision := b.link.seen()
			if p.tells >= 0 {
				revision = registry.Revision(results[p.tells].stat.Mzxid)
			}
			p.commit.verdict <- verdict{done: true, outcome: registry.Outcome{Revision: revision}}
		}
		b.q.ended(nil, false)
		return
	}
	f, is := err.(*failure) //nolint:errorlint // it is made here
	switch {
	case is:
		if f.code == codeNoNode || f.code == codeNoChildrenForEphemerals {
			b.q.r.parents.forget()
		}
		b.fail(b.users[f.at])
	case err == zk.ErrConnectionClosed || err == errShape: //nolint:errorlint // so is this
		b.release(b.commits(), verdict{lost: true, since: b.since, err: sized(err, b.size)})
		b.q.ended(nil, false)
	default:
		b.release(b.commits(), verdict{err: err})
		b.q.ended(nil, false)
	}
}

// fail has those go on by themselves whose operation failed, and the others once more.
func (b *batch) fail(culprits []*commit) {
	to := make(map[*commit]bool, len(culprits))
	for _, c := range culprits {
		to[c] = true
	}
	var again []*commit
	for _, p := range b.parts {
		if !to[p.commit] {
			again = append(again, p.commit)
		}
	}
	b.release(culprits, verdict{fresh: true})
	b.q.ended(again, true)
}

func (b *batch) commits() []*commit {
	all := make([]*commit, len(b.parts))
	for i, p := range b.parts {
		all[i] = p.commit
	}
	return all
}

// release has transactions go on by themselves.
func (b *batch) release(commits []*commit, v verdict) {
	for _, c := range commits {
		c.verdict <- v
	}
}
