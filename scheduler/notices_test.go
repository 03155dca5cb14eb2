package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// diary notes what listeners and observers hear, with the second of the bubble.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// read returns what was noted since the last time, when all that happens at this moment has happened.
func (d *diary) read() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

func (d *diary) connection(_ context.Context, e scheduler.ConnectionEvent) error {
	d.note("%s, reason given %t", e.Change, errors.Is(e.Reason, registry.ErrSessionLost))
	return nil
}

func (d *diary) leadership(_ context.Context, e scheduler.LeadershipEvent) error {
	d.note("leads %s %t, has a term %t", e.Job, e.Leading, e.Term > 0)
	return nil
}

// Observe implements [scheduler.Observer].
func (d *diary) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.ListenerEvent:
		d.note("%s listener of %q failed: %v", e.Listener, e.Job, e.Err)
	case scheduler.LeadershipEvent:
		if e.Leading {
			d.note("elected for %s", e.Job)
		} else {
			d.note("resigned for %s", e.Job)
		}
	case scheduler.WholeRoundEvent:
		d.note("%s %s settled: %s, %v", e.Phase, e.Fire.Sub(bubbleStart), e.Outcome, e.Err)
	case scheduler.ViewEvent:
		d.note("view of %q: %v", e.Job, e.Err)
	}
}

// A listener hears what became of the session, each change once and in order.
func TestConnectionListeners(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var heard diary
		i := c.startWith("a", nil, []scheduler.Option{scheduler.WithConnectionListener(heard.connection)}, jobOf(1))
		require.Equal(t, []string{"established, reason given false"}, heard.read())

		i.registry.Cut() // as long as the session survives it
		sleepUntil(4 * time.Second)
		i.registry.Heal()
		sleepUntil(8 * time.Second)
		require.Equal(t, []string{"suspended, reason given false", "back, reason given false"}, heard.read())

		i.registry.Cut()
		sleepUntil(20 * time.Second)
		require.Equal(t, []string{"suspended, reason given false", "lost, reason given true"}, heard.read())
		i.registry.Heal()
		sleepUntil(30 * time.Second)
		require.Equal(t, []string{"established, reason given false"}, heard.read())
		i.stop(t)
		require.Empty(t, heard.read(), "a stop leaves the session to whoever closes the registry")
	})
}

// A listener hears of leaderships gained and lost: by election, by the loss of the session, by a stop.
func TestLeadershipListeners(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var first, second diary
		a := c.startWith("a", nil, []scheduler.Option{scheduler.WithLeadershipListener(first.leadership), scheduler.WithObserver(&first)}, jobOf(1))
		sleepUntil(time.Second)
		b := c.startWith("b", nil, []scheduler.Option{scheduler.WithLeadershipListener(second.leadership)}, jobOf(1))
		sleepUntil(2 * time.Second)
		require.ElementsMatch(t, []string{"elected for orders", "leads orders true, has a term true"}, first.read())
		require.Empty(t, second.read())

		a.registry.Cut()
		sleepUntil(20 * time.Second)
		require.ElementsMatch(t, []string{"resigned for orders", "leads orders false, has a term true"}, first.read())
		require.Equal(t, []string{"leads orders true, has a term true"}, second.read())

		a.registry.Heal()
		sleepUntil(30 * time.Second)
		b.stop(t)
		require.Equal(t, []string{"leads orders false, has a term true"}, second.read())
		sleepUntil(40 * time.Second)
		require.ElementsMatch(t, []string{"elected for orders", "leads orders true, has a term true"}, first.read())
		a.stop(t)
		require.ElementsMatch(t, []string{"resigned for orders", "leads orders false, has a term true"}, first.read())
	})
}

// Listeners that fail, panic or never return are reported, and hold up neither the others nor rounds,
// nor a stop.
func TestProcessListenersThatFail(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var heard diary
		forever := make(chan struct{})
		stuck := func(context.Context, scheduler.LeadershipEvent) error { <-forever; return nil }
		i := c.startWith("a", nil, []scheduler.Option{
			scheduler.WithObserver(&heard), scheduler.WithListenerTimeout(10 * time.Second),
			scheduler.WithConnectionListener(func(context.Context, scheduler.ConnectionEvent) error { return errors.New("no pager") }),
			scheduler.WithConnectionListener(func(context.Context, scheduler.ConnectionEvent) error { panic("oops") }),
			scheduler.WithLeadershipListener(stuck),
			scheduler.WithLeadershipListener(heard.leadership),
		}, jobOf(1))
		sleepUntil(9 * time.Second)
		require.Len(t, c.take(), 1, "the fire of second 5")
		sleepUntil(12 * time.Second)
		require.ElementsMatch(t, []string{ // each kind of listeners is told on its own
			`connection listener of "" failed: no pager`,
			`connection listener of "" failed: panic: oops`,
			"elected for orders",
			`leadership listener of "orders" failed: did not return when its context had ended: ` + scheduler.ErrListenerTimeout.Error(),
			"leads orders true, has a term true",
		}, heard.read())

		began := time.Now()
		i.cancel() // and the stuck listener is told of the leadership's end
		require.EqualError(t, i.ended(), `job "orders": leadership listener did not return when the stop timeout was over and was given up (once)`+
			"\n"+`job "orders": leadership listener was not called any more: the scheduler stopped (once)`)
		require.LessOrEqual(t, time.Since(began), 3*time.Second)
		require.Len(t, heard.read(), 3)
		close(forever)
	})
}

// An observer's panic reaches neither the scheduler nor the other observers.
func TestAnObserverPanics(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var heard diary
		c.startWith("a", nil, []scheduler.Option{scheduler.WithObserver(panicky{}), scheduler.WithObserver(&heard)}, jobOf(1))
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{"elected for orders"}, heard.read())
		require.Len(t, c.take(), 1)
	})
}

type panicky struct{}

func (panicky) Observe(event scheduler.Event) { panic(fmt.Sprintf("%T", event)) }

func TestListenerOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]scheduler.Option{
		"nil connection listener": scheduler.WithConnectionListener(nil),
		"nil leadership listener": scheduler.WithLeadershipListener(nil),
		"no time for listeners":   scheduler.WithListenerTimeout(0),
	} {
		reg := memory.NewServer().Open("test")
		_, err := scheduler.New(reg, option)
		require.NoError(t, reg.Close(context.Background()))
		require.ErrorIs(t, err, scheduler.ErrInvalidOption, name)
	}
}
