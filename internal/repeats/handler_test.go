package repeats

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Some messages of a logger are counted, for each job and cause by itself; the rest is as ever.
func TestALoggerThatCountsSomeMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p page
		inner := p.logger().With("instance", "a")
		counts := New(inner, time.Minute)
		log := slog.New(Handler(inner.Handler(), counts, []string{"failed"}, []string{"error"}))
		orders, mails := log.With("job", "orders"), log.With("job", "mails")
		for n := range 3 {
			orders.Error("failed", "item", n, "error", "away")
			mails.Error("failed", "item", n, "error", "away")
			orders.Error("failed", "item", n, "error", "full")
			orders.Info("done", "item", n)
			log.Error("failed", "job", "process", "error", "away")
			orders.Debug("failed")
		}
		require.Equal(t, []string{
			"level=ERROR msg=failed instance=a job=orders item=0 error=away",
			"level=ERROR msg=failed instance=a job=mails item=0 error=away",
			"level=ERROR msg=failed instance=a job=orders item=0 error=full",
			"level=INFO msg=done instance=a job=orders item=0",
			"level=ERROR msg=failed instance=a job=process error=away",
			"level=INFO msg=done instance=a job=orders item=1",
			"level=INFO msg=done instance=a job=orders item=2",
		}, p.take())
		time.Sleep(61 * time.Second)
		require.ElementsMatch(t, []string{
			"level=ERROR msg=failed instance=a job=orders item=2 error=away times=2",
			"level=ERROR msg=failed instance=a job=mails item=2 error=away times=2",
			"level=ERROR msg=failed instance=a job=orders item=2 error=full times=2",
			"level=ERROR msg=failed instance=a job=process error=away times=2",
		}, p.take())
		time.Sleep(time.Hour)
		require.Zero(t, counts.known())
		require.Empty(t, counts.alike)
		counts.Close()
	})
}

// Errors that differ in numbers may be news, such as a status, or not, such as an id: a few are told apart.
func TestCausesThatDifferInNumbers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p page
		counts := New(p.logger(), time.Minute)
		log := slog.New(Handler(p.logger().Handler(), counts, []string{"failed"}, []string{"error"})).With("job", "orders")
		for n := range 1000 {
			log.Error("failed", "error", fmt.Sprintf("order a%dx: status %d", n, n))
			log.Error("failed", "error", fmt.Sprintf("no answer within %d ms", n%2))
		}
		require.Len(t, p.take(), maxAlike+1+2)
		log.Error("failed", "error", "something else")
		require.Len(t, p.take(), 1)
		counts.Close()
		require.ElementsMatch(t, []string{
			fmt.Sprintf(`level=ERROR msg=failed job=orders error="order a999x: status 999" times=%d`, 1000-maxAlike-1),
			`level=ERROR msg=failed job=orders error="no answer within 0 ms" times=499`,
			`level=ERROR msg=failed job=orders error="no answer within 1 ms" times=499`,
		}, p.take())
	})
}

// What an error says is logged up to a limit, also where it is counted: it may hold a whole answer.
func TestOfAHugeErrorABoundedPartIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p page
		counts := New(p.logger(), time.Minute)
		log := slog.New(Handler(p.logger().Handler(), counts, []string{"failed"}, []string{"error"})).With("job", "orders")
		huge := errors.New(strings.Repeat("x", maxLogged-1) + "ü" + strings.Repeat("x", 15<<20))
		shown := strings.Repeat("x", maxLogged-1) + fmt.Sprintf("... (%d bytes)", len(huge.Error()))
		for range 2 {
			log.Error("failed", "item", 1, "error", huge, "token", 7)
		}
		require.Equal(t, []string{`level=ERROR msg=failed job=orders item=1 error="` + shown + `" token=7`}, p.take())
		counts.Close()
		require.Equal(t, []string{`level=ERROR msg=failed job=orders item=1 error="` + shown + `" token=7 times=1`}, p.take())
		whole := strings.Repeat("x", maxLogged)
		log.Error("failed", "error", errors.New(whole))
		require.Equal(t, []string{"level=ERROR msg=failed job=orders error=" + whole}, p.take())
	})
}

func TestShape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"exit status 1":                 "exit status #",
		"dial 10.0.0.1:80: refused":     "dial #.#.#.#:#: refused",
		"order 3fa9-b21c of größe-7 7a": "order #-# of größe-# #",
	} {
		require.Equal(t, want, shape(text))
	}
}
