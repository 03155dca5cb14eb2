package zkcompat_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	opMulti = 14
	opCheck = 13
)

// isBallot tells whether a frame of the client is a multi that only checks a znode.
func isBallot(frame []byte) bool {
	return len(frame) < 40 && binary.BigEndian.Uint32(frame[8:]) == opMulti && binary.BigEndian.Uint32(frame[12:]) == opCheck
}

// tap makes connections and listens in on them: it knows the session, and loses answers.
type tap struct {
	mu     sync.Mutex
	id     uint64
	secret []byte
	lose   bool // the answer to the next transaction
}

// dial is what a Config takes.
func (t *tap) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &tapped{Conn: conn, tap: t, in: bufio.NewReader(conn)}, nil
}

// loseAnswer has the answer to the next transaction lost, with the connection.
func (t *tap) loseAnswer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lose = true
}

// expire ends the session at the server behind the client's back, as a twin that says farewell until the
// server knows no such session.
func (t *tap) expire(tb testing.TB, address string) {
	tb.Helper()
	t.mu.Lock()
	hail := hailOf(t.id, t.secret)
	t.mu.Unlock()
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		if expired(tb, address, hail) {
			return
		}
	}
	tb.Fatal("the server keeps the session")
}

func hailOf(id uint64, secret []byte) []byte {
	hail := make([]byte, 16) // version and the newest transaction seen
	binary.BigEndian.PutUint32(hail[12:], 3000)
	hail = binary.BigEndian.AppendUint64(hail, id)
	hail = binary.BigEndian.AppendUint32(hail, uint32(len(secret)))
	return append(hail, secret...)
}

// expired asks for the session, and closes it if it is there.
func expired(tb testing.TB, address string, hail []byte) bool {
	tb.Helper()
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	require.NoError(tb, err)
	defer conn.Close()
	require.NoError(tb, conn.SetDeadline(time.Now().Add(20*time.Second)))
	send(tb, conn, hail)
	greeting, err := readFrame(conn)
	if err != nil {
		return false
	}
	if binary.BigEndian.Uint64(greeting[12:]) == 0 {
		return true
	}
	farewell := binary.BigEndian.AppendUint32(nil, 1)
	send(tb, conn, binary.BigEndian.AppendUint32(farewell, 0xfffffff5)) // -11
	_, _ = readFrame(conn)                                              // the server may hang up at once
	return false
}

func send(tb testing.TB, conn net.Conn, body []byte) {
	tb.Helper()
	_, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	require.NoError(tb, err)
}

func readFrame(in io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err
	}
	frame := append(length[:], make([]byte, binary.BigEndian.Uint32(length[:]))...)
	_, err := io.ReadFull(in, frame[4:])
	return frame, err
}

// tapped is one connection.
type tapped struct {
	net.Conn
	tap     *tap
	in      *bufio.Reader
	rest    bytes.Reader
	greeted bool

	mu     sync.Mutex
	hailed bool
	losing uint32 // the number of the request whose answer gets lost
}

func (c *tapped) Write(frame []byte) (int, error) {
	c.mu.Lock()
	if c.hailed && len(frame) >= 12 && binary.BigEndian.Uint32(frame[8:]) == opMulti && !isBallot(frame) {
		c.tap.mu.Lock()
		if c.tap.lose {
			c.tap.lose, c.losing = false, binary.BigEndian.Uint32(frame[4:])
		}
		c.tap.mu.Unlock()
	}
	c.hailed = true
	c.mu.Unlock()
	return c.Conn.Write(frame)
}

func (c *tapped) Read(p []byte) (int, error) {
	for c.rest.Len() == 0 {
		frame, err := readFrame(c.in)
		if err != nil {
			return 0, err
		}
		if c.note(frame[4:]) {
			_ = c.Close()
			return 0, errors.New("the answer was lost")
		}
		c.rest.Reset(frame)
	}
	return c.rest.Read(p)
}

// note is true for the answer that gets lost.
func (c *tapped) note(body []byte) bool {
	if !c.greeted {
		c.greeted = true
		c.tap.mu.Lock()
		defer c.tap.mu.Unlock()
		if id := binary.BigEndian.Uint64(body[8:]); id != 0 {
			c.tap.id = id
			size := binary.BigEndian.Uint32(body[16:])
			c.tap.secret = bytes.Clone(body[20 : 20+size])
		}
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.losing != 0 && binary.BigEndian.Uint32(body) == c.losing
}
