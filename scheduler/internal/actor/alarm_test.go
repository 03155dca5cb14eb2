package actor

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// bell is an alarm and the times at which it rang.
type bell struct {
	Alarm
	mu   sync.Mutex
	rung []time.Duration // since midnight
}

func newBell() *bell {
	b := &bell{}
	b.Ring = func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.rung = append(b.rung, time.Since(midnight))
	}
	return b
}

func (b *bell) heard() []time.Duration {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}

func TestTheEarliestAlarmCounts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set  []time.Duration // all at once
		want time.Duration
	}{
		"one":                {[]time.Duration{3 * time.Second}, 3 * time.Second},
		"an earlier one":     {[]time.Duration{time.Hour, 3 * time.Second}, 3 * time.Second},
		"a later one":        {[]time.Duration{3 * time.Second, time.Hour}, 3 * time.Second},
		"the same":           {[]time.Duration{3 * time.Second, 3 * time.Second}, 3 * time.Second},
		"the one in between": {[]time.Duration{time.Hour, time.Second, time.Minute}, time.Second},
		"at once":            {[]time.Duration{time.Hour, 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBell()
				for _, d := range test.set {
					b.Set(d)
				}
				until(2 * time.Hour)
				require.Equal(t, []time.Duration{test.want}, b.heard(), "it rings once")
			})
		})
	}
}

func TestAnAlarmIsSetAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBell()
		b.Set(5 * time.Second)
		until(2 * time.Second)
		b.Set(5 * time.Second) // would be later than what is set
		until(6 * time.Second)
		b.Set(4 * time.Second)
		until(7 * time.Second)
		b.Set(time.Second)
		until(time.Hour)
		b.Set(time.Second)
		until(2 * time.Hour)
		require.Equal(t, []time.Duration{5 * time.Second, 8 * time.Second, time.Hour + time.Second}, b.heard())
	})
}

// An alarm that has rung takes no timer, and one that was set again before that was told goes on.
func TestAnAlarmLetsGoOfItsTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBell()
		b.Set(5 * time.Second)
		until(5 * time.Second)
		b.heard()
		b.Rang()
		require.Nil(t, b.timer)
		b.Set(time.Second)
		until(6 * time.Second)
		b.heard()
		b.Set(time.Second)
		b.Rang()
		require.NotNil(t, b.timer)
		until(time.Hour)
		require.Equal(t, []time.Duration{5 * time.Second, 6 * time.Second, 7 * time.Second}, b.heard())
		b.Rang()
		b.Stop()
	})
}

func TestAnAlarmIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBell()
		b.Stop()
		b.Set(5 * time.Second)
		until(2 * time.Second)
		b.Stop()
		b.Stop()
		until(time.Hour)
		require.Empty(t, b.heard())
	})
}

// A ring whose time has come and that the runtime has not given yet is not put off by what is set then.
func TestARingThatIsDueIsNotPutOff(t *testing.T) { // not parallel: there is nobody who would give the ring meanwhile
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 20 {
		rung := make(chan struct{}, 2)
		a := Alarm{Ring: func() { rung <- struct{}{} }}
		a.Set(time.Microsecond)
		for !time.Now().After(a.at) {
			continue // as somebody does who decides at length
		}
		a.Set(time.Hour)
		select {
		case <-rung:
		case <-time.After(30 * time.Second):
			t.Fatal("it does not ring")
		}
		a.Stop()
	}
}
