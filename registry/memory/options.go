package memory

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/registry"
)

// What a server and a handle do if no option says otherwise. The limits are etcd's.
const (
	DefaultMaxOps     = registry.MaxOps
	DefaultMaxBytes   = 1_500_000
	DefaultHistory    = 10_000
	DefaultTTL        = 5 * time.Second
	DefaultTryTimeout = 100 * time.Millisecond
)

// ServerOption changes how a [Server] behaves. [NewServer] panics if its value makes no sense.
type ServerOption func(*limits) error

type limits struct {
	ops     int // conditions, with one more for each plain put, or writes, of one request
	bytes   int // paths and values of one request
	history int // commits that watches can be caught up from
}

// WithMaxOps bounds the conditions and the writes of one request. As on etcd, a plain put counts as a
// condition, too: that no session owns its node. A request that carries n transactions together may hold at
// most this number less n in each. The default is
// [DefaultMaxOps].
func WithMaxOps(n int) ServerOption {
	return func(l *limits) error {
		if n <= 0 {
			return fmt.Errorf("%w: %d conditions and writes of a request must be at least 1", option.ErrInvalid, n)
		}
		l.ops = n
		return nil
	}
}

// WithMaxBytes bounds the size of the paths and values of one request. The default is
// [DefaultMaxBytes].
func WithMaxBytes(n int) ServerOption {
	return func(l *limits) error {
		if n <= 0 {
			return fmt.Errorf("%w: %d bytes of a request must be at least 1", option.ErrInvalid, n)
		}
		l.bytes = n
		return nil
	}
}

// WithHistory sets how many commits the server remembers for handles that were cut off. One that
// missed more takes a fresh copy. The default is [DefaultHistory].
func WithHistory(commits int) ServerOption {
	return func(l *limits) error {
		if commits <= 0 {
			return fmt.Errorf("%w: a history of %d commits must have at least 1", option.ErrInvalid, commits)
		}
		l.history = commits
		return nil
	}
}

// Option changes how one handle behaves. [Server.Open] panics if its value makes no sense.
type Option func(*settings) error

type settings struct {
	ttl        time.Duration
	latency    time.Duration
	tryTimeout time.Duration
	spread     uint64
	requests   int
	delays     func(Message) time.Duration
}

// WithTTL sets for how long the server keeps the handle's session without hearing of it. The
// default is [DefaultTTL].
func WithTTL(ttl time.Duration) Option {
	return func(s *settings) error {
		if ttl <= 0 {
			return fmt.Errorf("%w: TTL %s must be positive", option.ErrInvalid, ttl)
		}
		s.ttl = ttl
		return nil
	}
}

// WithLatency sets how long a request, an answer and a watch event take each. The default is 0: a
// call is answered before it returns control. [Registry.SetLatency] changes it later.
func WithLatency(oneWay time.Duration) Option {
	return func(s *settings) error {
		if oneWay < 0 {
			return fmt.Errorf("%w: latency %s must not be negative", option.ErrInvalid, oneWay)
		}
		s.latency = oneWay
		return nil
	}
}

// WithSpread has every request, answer and event of the handle take up to 66 microseconds longer, each
// by what it is about and by seed. What several goroutines of a process do in one instant then meets the
// store in an order that a second run in a synctest bubble repeats, whichever of them the runtime
// lets go first. Events are delivered one at a time, each in an instant of its own. The default, and seed 0, is no
// spread.
func WithSpread(seed uint64) Option {
	return func(s *settings) error {
		s.spread = seed
		return nil
	}
}

// WithRequests bounds how many requests of commits the handle has under way at a time. The others wait
// for their turns, see [registry.Turn]. The default, 0, is no bound: then only a cut lets commits wait.
func WithRequests(n int) Option {
	return func(s *settings) error {
		if n < 0 {
			return fmt.Errorf("%w: %d requests at a time must not be negative", option.ErrInvalid, n)
		}
		s.requests = n
		return nil
	}
}

// WithTryTimeout sets after what time a commit whose answer was lost is tried again. The default is
// [DefaultTryTimeout].
func WithTryTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d <= 0 {
			return fmt.Errorf("%w: try timeout %s must be positive", option.ErrInvalid, d)
		}
		s.tryTimeout = d
		return nil
	}
}

// take sets what options say. A value that makes no sense is a mistake in a program, and panics.
func take[T any, O ~func(*T) error](to *T, options []O) {
	faults := option.Apply(to, options)
	if err := errors.Join(faults...); err != nil {
		panic(fmt.Errorf("memory: %w", err))
	}
}

// MessageKind says which way a [Message] goes.
type MessageKind uint8

// The kinds of messages.
const (
	Request MessageKind = iota + 1
	Answer
	Event // tells a watch of a commit
)

// Message is something that travels between a handle and the server.
type Message struct {
	Kind MessageKind
	// About names what it is about, the same in every run: an operation, the paths that a commit writes,
	// the revision of an event.
	About string
	// Txns are those that a commit asks for; none of any other message. Do not change them.
	Txns []registry.Txn
}

// WithDelays has each message of the handle take longer, by what the function says. Requests and answers
// may overtake each other so; events stay in order. A request arrives also if its caller has given up, or its
// process has vanished, while it was under way. The function must be safe for concurrent use and must
// not call the handle. The default is no delay.
func WithDelays(by func(Message) time.Duration) Option {
	return func(s *settings) error {
		s.delays = by
		return nil
	}
}
