package fires

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
)

const (
	// ClockTolerance is by how much clocks may differ before a fire is taken for that of a broken
	// one.
	ClockTolerance = inforce.ClockTolerance
	// ClockEvery is how often the registry is asked for the time at most, for jobs that want their clocks checked, until it
	// has told it once, and while this clock is about to be too far off.
	ClockEvery = time.Minute
	// clockAnyway is how often the registry is asked at least: a clock in order drifts by some hundredths of a second
	// meanwhile, and a registry that cannot tell its time may be set up anew.
	clockAnyway = 10 * time.Minute
	// clockTimeout bounds one such question.
	clockTimeout = 5 * time.Second
)

// ClockCheck compares this process's wall clock with the registry's. It is asked for that at the start of each session, once in
// ten minutes, and more often while a job wants it, or there was no answer yet; in between it counts on by the monotonic clock,
// so a wall clock that is set shows at once. One that drifts shows by the next answer: both clocks of a machine drift together.
// It never asks on the way to a begin. It is safe for concurrent use; its fields are set before.
type ClockCheck struct {
	Wall   func() time.Time                         // this process's wall clock
	Ask    func(context.Context) (time.Time, error) // asks for the registry's
	Start  func(func())                             // starts a goroutine that the scheduler waits for
	Failed func(error)                              // hears of a question that got no answer in time
	Table  *Timetable                               // goes by the same wall clock

	answer  atomic.Pointer[answer] // the last; nil = none yet. Every job of the process reads it at every decision
	session atomic.Uint64          // counts the registry's sessions
	mute    atomic.Bool            // the registry cannot tell its time

	mu     sync.Mutex
	asked  time.Time // when the last answer, or none, came
	asking bool
	told   []func() // called when the next answer, or none, has come
}

// answer is what the registry's clock showed, and when.
type answer struct {
	server   time.Time
	measured time.Time // by this process, with a monotonic reading
	came     time.Time // when it was there
	session  uint64    // under which it was asked for
}

// Renew takes in that a session of the registry begins, and asks for the time. A session ends while a machine stands still, and
// then all of its clocks may have: what was known before is too little to doubt others by.
func (c *ClockCheck) Renew(ctx context.Context) {
	c.mu.Lock()
	c.session.Add(1)
	c.asking, c.asked = false, time.Time{}
	c.mu.Unlock()
	c.Check(ctx, 0)
}

// Confirmed tells whether the registry has told its time under the present session.
func (c *ClockCheck) Confirmed() bool { return c.confirmed() != nil }

func (c *ClockCheck) confirmed() *answer {
	if a := c.answer.Load(); a != nil && a.session == c.session.Load() {
		return a
	}
	return nil
}

// Fresh tells whether the registry told its time within age, under the present session.
func (c *ClockCheck) Fresh(age time.Duration) bool {
	a := c.confirmed()
	return a != nil && time.Since(a.came) < age
}

// WhenAsked calls fn when the next answer has come, or has failed to come. fn must not block.
func (c *ClockCheck) WhenAsked(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, fn)
}

// registryNow returns the registry's clock, as far as it is known.
func (c *ClockCheck) registryNow() (time.Time, bool) {
	a := c.answer.Load()
	if a == nil {
		return time.Time{}, false
	}
	return a.now(), true
}

// now returns what the registry's clock shows by now.
func (a *answer) now() time.Time { return a.server.Add(time.Since(a.measured)) }

// begin tells whether to ask now, and under which session: if nobody is asking, and the last answer is older than age.
func (c *ClockCheck) begin(age time.Duration) (session uint64, ask bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking || !c.asked.IsZero() && time.Since(c.asked) < age {
		return 0, false
	}
	c.asking = true
	return c.session.Load(), true
}

// end takes in an answer. One to a question of an earlier session may be as old as that.
func (c *ClockCheck) end(a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.session != c.session.Load() {
		return
	}
	c.asking = false
	c.asked = time.Now()
	if !a.server.IsZero() {
		a.server, a.came = a.server.Round(0), c.asked // a monotonic reading would hide that the wall clock is set
		c.answer.Store(&a)
		c.mute.Store(false)
	}
	for _, fn := range c.told {
		fn()
	}
	c.told = nil
}

// Check asks the registry for the time, unless it was asked within age. It does not wait for the answer.
func (c *ClockCheck) Check(ctx context.Context, age time.Duration) {
	session, ask := c.begin(age)
	if !ask {
		return
	}
	c.Start(func() {
		inTime, cancel := context.WithTimeout(ctx, clockTimeout)
		defer cancel()
		sent := time.Now()
		server, err := c.Ask(inTime)
		if err != nil {
			server = time.Time{}
			if ctx.Err() == nil {
				c.Failed(err)
			}
		}
		// The answer was true at some time between; the middle errs the least.
		c.end(answer{server: server, measured: sent.Add(time.Since(sent) / 2), session: session})
	})
}

// CheckDrift asks the registry for the time again once this clock may have drifted since: sooner the closer it is to being
// taken for a broken one. A registry that has not told its time under the present session is asked only if it cannot: whether
// it still cannot.
func (c *ClockCheck) CheckDrift(ctx context.Context) {
	a := c.confirmed()
	if a == nil && !c.Mute() {
		return
	}
	age := clockAnyway
	if a != nil && c.Wall().Sub(a.now()).Abs() > ClockTolerance/2 {
		age = ClockEvery
	}
	c.Check(ctx, age)
}

// FoundMute takes in that the registry cannot tell its time. It tells whether that is news.
func (c *ClockCheck) FoundMute() (news bool) { return !c.mute.Swap(true) }

// Mute tells whether the registry was found unable to tell its time, and has not told it since.
func (c *ClockCheck) Mute() bool { return c.mute.Load() }

// Now returns the time by this process's wall clock.
func (c *ClockCheck) Now() time.Time { return c.Wall() }

// Passed is [Timetable.Passed].
func (c *ClockCheck) Passed() time.Time { return c.Table.Passed() }

// Horizon returns the latest fire that a clock in order can have ticked, for whoever doubts what others wrote; zero if the
// registry has not told its time under the present session.
func (c *ClockCheck) Horizon() time.Time {
	if a := c.confirmed(); a != nil {
		return a.now().Add(ClockTolerance)
	}
	return time.Time{}
}

// Limit returns the latest fire that may begin by this process's clock, by all that is known of the registry's; zero if
// that is nothing.
func (c *ClockCheck) Limit() time.Time {
	now, known := c.registryNow()
	if !known {
		return time.Time{}
	}
	return now.Add(ClockTolerance)
}

// Off returns by how much this process's wall clock is ahead of the registry's; negative if it is behind.
func (c *ClockCheck) Off() (off time.Duration, known bool) {
	now, known := c.registryNow()
	if !known {
		return 0, false
	}
	return c.Wall().Sub(now), true
}
