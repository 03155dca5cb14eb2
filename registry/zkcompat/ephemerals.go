package zkcompat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
)

const (
	// mostEphemeral is how many bytes the paths of the ephemeral znodes of a session may have. When a session ends, the servers
	// write all of them into one transaction, which no server reads again that is larger than its jute.maxbuffer, 1 MiB less a
	// byte by default: it cannot load its data any more, whether it is started again or follows another one. A server takes
	// jute.maxbuffer.extrasize more, which may be next to nothing.
	mostEphemeral = 1<<20 - 64<<10
	// mostBegun is how many of them may belong to the first znodes in each subtree directly below the namespace, which is a job:
	// who takes part in one is to have room for what follows there, to lead it and to run its items.
	mostBegun = mostEphemeral / 3
	// sizeOfText is what a text has in a transaction besides its bytes.
	sizeOfText = 4
	// sequenceDigits is what a server adds to the name of a sequential znode.
	sequenceDigits = 10
	// countAgain is how often the server is asked at most what the session holds.
	countAgain = 5 * time.Second
)

// ephemerals counts what a session holds: at least what it really does. A znode counts from before it is created until an
// answer tells that it was not, or is gone. What other clients delete, and what became of requests that got no answer, the
// server is asked when there is no room.
type ephemerals struct {
	base string // the namespace's znode

	mu     sync.Mutex
	znodes map[string]*ephemeral
	jobs   map[string]int // how many znodes there are in each subtree directly below the namespace
	size   int            // of all
	begun  int            // of those that were the first of their subtree
	clock  uint64         // counts claims and settlements
	asked  time.Time      // when the server was asked last
	local  bool           // the servers let the session own none, on the present connection
}

// ephemeral is a znode that the session holds, or may hold.
type ephemeral struct {
	size     int
	job      string
	first    bool // of its subtree
	underWay int  // requests to create it that are not answered
	there    bool // one was done, or may have been
	claimed  uint64
	settled  uint64 // when the last of them was answered
}

func newEphemerals(base string) *ephemerals {
	return &ephemerals{base: base, znodes: make(map[string]*ephemeral), jobs: make(map[string]int)}
}

// ephemeralClaim is what one request creates and deletes. A nil one is of nothing.
type ephemeralClaim struct {
	all              *ephemerals
	creates, deletes []string
	at               uint64
}

// claimOf counts what a multi would create. The error tells that there is no room.
func (e *ephemerals) claimOf(ops []any) (*ephemeralClaim, error) {
	var creates, deletes []string
	for _, op := range ops {
		switch op := op.(type) {
		case *zk.CreateRequest:
			if op.Flags&zk.FlagEphemeral != 0 {
				creates = append(creates, op.Path)
			}
		case *zk.DeleteRequest:
			deletes = append(deletes, op.Path)
		}
	}
	return e.claim(creates, deletes, 0)
}

// claim counts znodes that are about to be created, whose names become longer by so many bytes.
func (e *ephemerals) claim(creates, deletes []string, longer int) (*ephemeralClaim, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.full(creates, longer); err != nil {
		return nil, err
	}
	e.clock++
	c := &ephemeralClaim{all: e, creates: creates, at: e.clock}
	for _, path := range creates {
		z := e.znodes[path]
		if z == nil {
			z = e.add(path, longer)
		}
		z.underWay++
	}
	for _, path := range deletes {
		if e.znodes[path] != nil {
			c.deletes = append(c.deletes, path)
		}
	}
	return c, nil
}

// room tells whether there is room for znodes.
func (e *ephemerals) room(creates []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.full(creates, 0)
}

// full tells that there is no room, or none at all. The caller holds mu.
func (e *ephemerals) full(creates []string, longer int) error {
	if e.local && len(creates) > 0 {
		return refusal(errLocalSession)
	}
	size, begun, begins := 0, 0, make(map[string]bool)
	for _, path := range creates {
		if e.znodes[path] != nil {
			continue
		}
		own, job := sizeOfText+len(path)+longer, e.jobOf(path)
		size += own
		if e.jobs[job] == 0 && !begins[job] {
			begins[job] = true
			begun += own
		}
	}
	if size == 0 || e.size+size <= mostEphemeral && (begun == 0 || e.begun+begun <= mostBegun) {
		return nil
	}
	return fmt.Errorf("%w: the session of this process holds %d ephemeral nodes in %d jobs, whose paths take %d bytes, and %d more are not safe: "+
		"when it ends the servers write all of them into one transaction, and could not read again one of more than 1 MiB "+
		"(jute.maxbuffer); have this process take part in fewer jobs, and more processes share them",
		registry.ErrNoSpace, len(e.znodes), len(e.jobs), e.size, size)
}

// setLocal notes whether the servers let the session own none. Each try would be answered with a page in a server's log.
func (e *ephemerals) setLocal(local bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.local = local
}

// jobOf returns the name that a znode's path has directly below the namespace.
func (e *ephemerals) jobOf(path string) string {
	rest, _ := strings.CutPrefix(path, e.base+"/")
	job, _, _ := strings.Cut(rest, "/")
	return job
}

func (e *ephemerals) add(path string, longer int) *ephemeral {
	z := &ephemeral{size: sizeOfText + len(path) + longer, job: e.jobOf(path)}
	z.first = e.jobs[z.job] == 0
	e.znodes[path] = z
	e.jobs[z.job]++
	e.size += z.size
	if z.first {
		e.begun += z.size
	}
	return z
}

func (e *ephemerals) remove(path string) {
	z := e.znodes[path]
	if z == nil {
		return
	}
	delete(e.znodes, path)
	if e.jobs[z.job]--; e.jobs[z.job] == 0 {
		delete(e.jobs, z.job)
	}
	e.size -= z.size
	if z.first {
		e.begun -= z.size
	}
}

// requestFate is what became of a request.
type requestFate uint8

const (
	fateUnknown requestFate = iota
	fateDone
	fateUndone
)

// fateOf returns what became of a multi, or of one operation.
func fateOf(err error) requestFate {
	if err == nil {
		return fateDone
	}
	if isOvertaken(err) || errors.Is(err, zk.ErrNoAuth) {
		return fateUndone
	}
	return fateUnknown
}

// settle takes in what became of the request. Answers to requests may be taken in in another order than they were given: of a
// znode that was created again after it was asked to be deleted, the deletion tells nothing.
func (c *ephemeralClaim) settle(fate requestFate) {
	if c == nil {
		return
	}
	e := c.all
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clock++
	for _, path := range c.creates {
		z := e.znodes[path]
		if z == nil { // it was dropped
			continue
		}
		z.underWay--
		z.settled = e.clock
		if fate != fateUndone {
			z.there, z.claimed = true, max(z.claimed, c.at)
		}
		e.tidy(path, z)
	}
	if fate != fateDone {
		return
	}
	for _, path := range c.deletes {
		if z := e.znodes[path]; z != nil && z.claimed < c.at {
			z.there = false
			e.tidy(path, z)
		}
	}
}

func (e *ephemerals) tidy(path string, z *ephemeral) {
	if !z.there && z.underWay == 0 {
		e.remove(path)
	}
}

// drop takes in that a znode is gone that nobody creates again.
func (e *ephemerals) drop(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(path)
}

// mayAsk tells whether the server may be asked again, and up to when its answer is known to tell all.
func (e *ephemerals) mayAsk() (upTo uint64, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.asked.IsZero() && time.Since(e.asked) < countAgain {
		return 0, false
	}
	e.asked = time.Now()
	return e.clock, true
}

// keep takes in what the server says that the session holds: of what was settled before it was asked, nothing else.
func (e *ephemerals) keep(held []string, upTo uint64) {
	names := make(map[string]bool, 2*len(held))
	for _, path := range held {
		names[path] = true
		names[path[:max(0, len(path)-sequenceDigits)]] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for path, z := range e.znodes {
		if z.underWay == 0 && z.settled <= upTo && !names[path] {
			e.remove(path)
		}
	}
}

// recount asks the server what the session holds, unless that was done a moment ago. A server carries out the requests of a
// session in their order, so after a sync nothing is under way that was answered here, or given up with its connection.
func (l *link) recount(ctx context.Context) error {
	upTo, ok := l.ephemerals.mayAsk()
	if !ok {
		return nil
	}
	if err := l.sync(ctx); err != nil {
		return err
	}
	w, err := l.introduced(ctx)
	if err != nil {
		return err
	}
	f := newFrame(8)
	f.text("/")
	heard := make(chan answer, 1)
	if !w.request(opEphemerals, f, func(a answer) { heard <- a }) {
		return zk.ErrConnectionClosed
	}
	select {
	case a := <-heard:
		if a.err != nil {
			return a.err
		}
		r := reader{rest: a.body}
		held := r.texts()
		if r.bad {
			return errShape
		}
		l.ephemerals.keep(held, upTo)
		return nil
	case <-ctx.Done():
		return errLeft
	}
}

// claimEphemerals counts what a request would create. If there is no room, the server is asked whether that is so.
func (l *link) claimEphemerals(ctx context.Context, claim func() (*ephemeralClaim, error)) (*ephemeralClaim, error) {
	c, err := claim()
	if err == nil || l.recount(ctx) != nil {
		return c, err
	}
	return claim()
}
