package standstill

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOnlyWhatLiesAfterwardsCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
		w := &Watch{last: began}
		for _, tick := range []float64{0.02, 0.15, 3.17, 3.19, 5.21} { // stood still from 0.17 to 3.17, and from 3.21 to 5.21
			w.note(at(tick))
		}
		time.Sleep(5210 * time.Millisecond)
		require.Equal(t, 5*time.Second, w.Since(began))
		require.Equal(t, 4*time.Second, w.Since(at(1.17)))
		require.Equal(t, 2*time.Second, w.Since(at(3.2)))
		require.Equal(t, time.Second, w.Since(at(4.21)))
		require.Zero(t, w.Since(at(5.21)))
		require.Equal(t, 210*time.Millisecond, w.Elapsed(began))

		time.Sleep(2020 * time.Millisecond) // which nobody has noted yet
		require.Equal(t, 2*time.Second, w.Since(at(5.21)))
	})
}

func TestWhoGoesOnDoesNotStandStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, began := New(t), time.Now()
		stop := Detect(func(stood time.Duration) { t.Errorf("stood still for %s", stood) })
		defer stop()
		time.Sleep(time.Minute)
		require.Zero(t, w.Since(began))
		require.Equal(t, time.Minute, w.Elapsed(began))
	})
}

// failing is a test that may fail.
type failing struct {
	testing.TB
	failed string
	logged int
}

func (f *failing) Logf(string, ...any) { f.logged++ }

func (f *failing) Fatalf(format string, args ...any) {
	f.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// A story is told again if it fails and the process stood still, and only then, and not for ever.
func TestRetry(t *testing.T) {
	t.Parallel()
	errLost := errors.New("the session was lost")
	for name, test := range map[string]struct {
		stands func(told int) bool
		fails  func(told int) bool
		told   int
		failed bool
	}{
		"it holds":                        {func(int) bool { return true }, func(int) bool { return false }, 1, false},
		"the code is wrong":               {func(int) bool { return false }, func(int) bool { return true }, 1, true},
		"it stood still once":             {func(n int) bool { return n == 1 }, func(n int) bool { return n == 1 }, 2, false},
		"wrong code, and it stood still":  {func(n int) bool { return n == 1 }, func(int) bool { return true }, 2, true},
		"it stands still again and again": {func(int) bool { return true }, func(int) bool { return true }, tries, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				told, f := 0, &failing{TB: t}
				done := make(chan struct{})
				go func() {
					defer close(done)
					w := New(f)
					w.retry(f, time.Second, func() error {
						told++
						if now := time.Now(); test.stands(told) {
							w.mu.Lock()
							w.stalls = append(w.stalls, stall{now, now.Add(time.Second)})
							w.mu.Unlock()
						}
						time.Sleep(2 * time.Second)
						if test.fails(told) {
							return errLost
						}
						return nil
					})
				}()
				<-done
				require.Equal(t, test.told, told)
				require.Equal(t, test.told-1, f.logged)
				require.Equal(t, test.failed, f.failed != "", f.failed)
			})
		})
	}
}

// What the process and the server stood still at the same time counts once, and so does what the server has not answered yet.
func TestWhatBothStoodStillCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
		w := &Watch{last: began}
		w.note(at(3.02)) // from 0.02
		w.asked = at(2)
		w.answered(at(5))
		w.asked = at(5.1)
		w.answered(at(5.2)) // as servers do
		w.last = at(10)
		time.Sleep(10 * time.Second)
		require.Equal(t, 4980*time.Millisecond, w.Since(began))
		require.Equal(t, 2500*time.Millisecond, w.Since(at(2.5)))
		require.Equal(t, time.Second, w.Since(at(4)))
		require.Zero(t, w.Since(at(5)))

		w.asked = at(9)
		require.Equal(t, time.Second, w.Since(at(5)))
		require.Equal(t, 500*time.Millisecond, w.Since(at(9.5)))
	})
}

// A story about a server is told again if it fails and the server stood still, though the process went on.
func TestRetryBeside(t *testing.T) {
	t.Parallel()
	errLost := errors.New("the session was lost")
	for name, test := range map[string]struct {
		stands func(told int) bool
		fails  func(told int) bool
		told   int
		failed bool
	}{
		"it holds":                       {func(int) bool { return true }, func(int) bool { return false }, 1, false},
		"the code is wrong":              {func(int) bool { return false }, func(int) bool { return true }, 1, true},
		"it stood still once":            {func(n int) bool { return n == 1 }, func(n int) bool { return n == 1 }, 2, false},
		"wrong code, and it stood still": {func(n int) bool { return n == 1 }, func(int) bool { return true }, 2, true},
		"it does not go on":              {func(int) bool { return true }, func(int) bool { return true }, tries, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := make(chan struct{}, 1) // what is in it stops the server
				told, f := 0, &failing{TB: t}
				done := make(chan struct{})
				go func() {
					defer close(done)
					RetryBeside(f, time.Second, func() { server <- struct{}{}; <-server }, func() error {
						told++
						time.Sleep(time.Second)
						if test.stands(told) {
							server <- struct{}{}
							defer func() { <-server }()
						}
						time.Sleep(1100 * time.Millisecond)
						if test.fails(told) {
							return errLost
						}
						return nil
					})
				}()
				<-done
				require.Equal(t, test.told, told)
				require.Equal(t, test.told-1, f.logged)
				require.Equal(t, test.failed, f.failed != "", f.failed)
			})
		})
	}
}
