package zkcompat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

// What the wire knows of ZooKeeper's protocol. Each frame is its length and then its body; a request
// begins with its number and its kind, an answer with its number, the newest transaction of which the
// server knew, and an error code.
const (
	opCloseSession  = -11
	opSync          = 9
	opSetAuth       = 100
	opEphemerals    = 103
	opRemoveWatches = 18
	opAddWatch      = 106

	watchRecursive = 1 // mode of opAddWatch: this node and all below it, until removed
	watchAny       = 3 // kind of opRemoveWatches

	numberOfEvents = -1   // the number of what is no answer
	firstOwnNumber = -100 // go-zookeeper counts upwards from 1, and keeps -1 to -8 for itself

	largestFrame = 256 << 20
)

// wire is a TCP connection to a server, with the client on one side of it. It reads along, for two
// things that the client does not tell: the newest transaction that answers show, and what the server
// granted. And it sends own requests in between the client's: watches of whole subtrees and reads of many znodes,
// which the client does not know, and multis whose answers must be heard in order with the events.
type wire struct {
	net.Conn
	link     *link
	greeting time.Time // until when the greetings must have been exchanged
	in       *bufio.Reader

	// Used by the one goroutine that reads.
	rest    []byte // of the frame that the client is reading
	greeted bool
	silence time.Duration // for how long nothing may come; 0 if that does not matter now

	synced atomic.Bool // a sync was answered on this very connection

	out      sync.Mutex    // one frame at a time
	hailed   bool          // the client's greeting was sent
	sent     time.Duration // when
	syncing  int32         // the number of the sync that is to be answered
	farewell int32         // the number of the request that closes the session

	mu     sync.Mutex
	closed bool
	number int32
	asks   map[int32]func(answer) // of own requests that are not answered
}

func newWire(l *link, conn net.Conn, greeting time.Time) *wire {
	w := &wire{Conn: conn, link: l, greeting: greeting, number: firstOwnNumber, asks: make(map[int32]func(answer))}
	w.in = bufio.NewReaderSize(arriving{w}, 64<<10)
	return w
}

// Write sends one frame of the client. That credentials could not be sent it does not say, nor that nothing can be on a link
// that is over: the client would answer itself once more than there is room for, and hang for good. It learns from its next
// read that the connection has ended.
func (w *wire) Write(frame []byte) (int, error) {
	w.out.Lock()
	defer w.out.Unlock()
	length, auth := len(frame), false
	if w.hailed && len(frame) >= 12 {
		number := int32(binary.BigEndian.Uint32(frame[4:]))
		switch kind := int32(binary.BigEndian.Uint32(frame[8:])); {
		case kind == opCloseSession:
			w.farewell = number
		case kind == opSync && w.syncing == 0:
			w.syncing = number
		case kind == opSetAuth:
			auth = true
		}
	}
	if !w.hailed {
		frame = w.hail(frame)
		w.hailed, w.sent = true, w.link.clock() // the server answers after this, so it may be read then
	}
	n, err := w.Conn.Write(frame)
	if err != nil {
		_ = w.Conn.Close() // before anybody else writes: a part may have gone
	}
	if err != nil && (auth || w.link.quit.Err() != nil) {
		return length, nil
	}
	return n, err
}

// hail returns the client's greeting with the newest transaction that any answer showed: a server that does not know
// it refuses the session, so that nobody reads there what is older than what he has seen. The client does not know of
// those that answers to own requests showed.
func (w *wire) hail(greeting []byte) []byte {
	const zxid, end = 8, 16 // where it stands
	if len(greeting) < end {
		return greeting
	}
	greeting = bytes.Clone(greeting) // which is the client's
	seen := max(int64(binary.BigEndian.Uint64(greeting[zxid:])), int64(w.link.seen()))
	binary.BigEndian.PutUint64(greeting[zxid:], uint64(seen))
	return greeting
}

// Read gives the client what the server sent, without the answers to own requests. The client asks for
// a frame only when it is done with all before it, the events among them.
func (w *wire) Read(p []byte) (int, error) {
	for len(w.rest) == 0 {
		frame, err := nextFrame(w.in)
		if err != nil {
			return 0, err
		}
		if w.note(frame[4:]) {
			w.rest = frame
		}
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// nextFrame returns what the server sends next, with its length.
func nextFrame(in io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > largestFrame {
		return nil, fmt.Errorf("the server sent a frame of %d bytes", size)
	}
	frame := make([]byte, 4+size)
	copy(frame, length[:])
	_, err := io.ReadFull(in, frame[4:])
	return frame, err
}

// note reads along. It is false for an answer to an own request.
func (w *wire) note(body []byte) bool {
	if len(body) < 16 {
		return true
	}
	if !w.greeted {
		w.greeted = true
		secret := reader{rest: body[16:]}
		w.link.greet(w, int64(binary.BigEndian.Uint64(body[8:])), secret.text(),
			time.Duration(binary.BigEndian.Uint32(body[4:]))*time.Millisecond)
		return true
	}
	number := int32(binary.BigEndian.Uint32(body))
	if number == numberOfEvents { // of which servers before 3.9 do not say the transaction
		w.link.event.Store(max(int64(binary.BigEndian.Uint64(body[4:])), 0))
		return true
	}
	w.link.see(int64(binary.BigEndian.Uint64(body[4:])))
	if number <= firstOwnNumber {
		w.answer(number, answer{err: errorOf(int32(binary.BigEndian.Uint32(body[12:]))), body: body[16:]})
		return false
	}
	w.out.Lock()
	defer w.out.Unlock()
	if w.syncing != 0 && number == w.syncing && !w.synced.Load() {
		w.syncing = 0 // for the next one, if this one failed
		w.synced.Store(binary.BigEndian.Uint32(body[12:]) == 0)
	}
	if w.farewell != 0 && number == w.farewell {
		w.link.parted.Store(true)
	}
	return true
}

func (w *wire) answer(number int32, a answer) {
	w.mu.Lock()
	heard := w.asks[number]
	delete(w.asks, number)
	w.mu.Unlock()
	if heard != nil {
		heard(a)
	}
}

// SetReadDeadline bounds for how long nothing may come; while greetings are exchanged, the time of the try to connect does. The
// client would wait for two thirds of the session's time. After half of it, there is time for two more connections, of which
// one is answered; and the client pings each third, so a server that is there is heard in time.
func (w *wire) SetReadDeadline(t time.Time) error {
	w.silence = 0
	switch {
	case t.IsZero():
	case w.greeted:
		w.silence = time.Until(t) * 3 / 4
		t = time.Now().Add(w.silence)
	case w.greeting.Before(t):
		t = w.greeting
	}
	return w.Conn.SetReadDeadline(t)
}

// arriving is what comes on a wire. Every piece of it shows that the server is there. The client sees only what is its own,
// and would take a long answer to an own request for silence.
type arriving struct{ wire *wire }

// Read implements [io.Reader].
func (a arriving) Read(p []byte) (int, error) {
	n, err := a.wire.Conn.Read(p)
	if n > 0 && a.wire.silence > 0 {
		_ = a.wire.Conn.SetReadDeadline(time.Now().Add(a.wire.silence)) // if that fails, so does the next read
	}
	return n, err
}

// Close ends the connection and every own request.
func (w *wire) Close() error {
	w.mu.Lock()
	w.closed = true
	asks := w.asks
	w.asks = nil
	w.mu.Unlock()
	err := w.Conn.Close()
	for _, heard := range asks {
		heard(answer{err: zk.ErrConnectionClosed})
	}
	return err
}

// answer is what the server says to an own request. After an error there is no body; that the connection is closed
// tells nothing of what the server did.
type answer struct {
	err  error
	body []byte
}

// request sends an own request, whose header it fills in, and has heard hear the answer: in between what the client
// hears, in the order in which the server spoke, so it must not block. It is false, and nothing is heard, if the
// connection is closed already. As for the client, a server may do what it was sent although no answer comes.
func (w *wire) request(kind int32, f frame, heard func(answer)) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	if w.number--; w.number == math.MinInt32 { // nobody waits for the first ones any more
		w.number = firstOwnNumber
	}
	number := w.number
	w.asks[number] = heard
	w.mu.Unlock()
	f.fill(number, kind)
	w.out.Lock()
	_, err := w.Conn.Write(f)
	if err != nil {
		_ = w.Conn.Close() // before anybody else writes: a part may have gone
	}
	w.out.Unlock()
	if err != nil {
		_ = w.Close() // as the client does; who waits is told
	}
	return true
}

// watch has the server tell of every change of the subtree at path, until the connection ends.
func (w *wire) watch(ctx context.Context, path string) error {
	return w.ask(ctx, opAddWatch, path, watchRecursive)
}

// unwatch ends that.
func (w *wire) unwatch(ctx context.Context, path string) error {
	return w.ask(ctx, opRemoveWatches, path, watchAny)
}

// watchRequest returns the frame of a request of a path and a number.
func watchRequest(path string, kind int32) frame {
	f := newFrame(8 + len(path))
	f.text(path)
	f.int(kind)
	return f
}

// ask sends such a request, and waits for its answer.
func (w *wire) ask(ctx context.Context, op int32, path string, kind int32) error {
	heard := make(chan error, 1) // holds the one answer
	if !w.request(op, watchRequest(path, kind), func(a answer) { heard <- a.err }) {
		return zk.ErrConnectionClosed
	}
	select {
	case err := <-heard:
		return err
	case <-ctx.Done():
		return errLeft
	}
}
