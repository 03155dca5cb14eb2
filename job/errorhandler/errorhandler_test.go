package errorhandler_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
)

var (
	errBoom  = errors.New("boom")
	context3 = job.ShardingContext{
		JobName: "orders", TaskID: "orders@-@3@-@READY@-@10.0.0.1@-@5", Item: 3, TotalCount: 8, ItemParameter: "Oslo",
		Fire: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Source: job.Scheduled, Token: 17,
	}
)

// named makes a built-in handler that logs to a buffer.
func named(t *testing.T, name string) (job.ErrorHandler, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	handler, err := errorhandler.Default().New(job.Config{ErrorHandler: name}, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	return handler, &log
}

func TestTheNamesAreThoseOf3x(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"IGNORE", "LOG", "THROW"}, errorhandler.Default().Names())
}

func TestLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", errorhandler.Log} {
		handler, log := named(t, name)
		require.NoError(t, handler.HandleError(t.Context(), "orders", context3, errBoom))
		require.Contains(t, log.String(), `level=ERROR msg="item failed" item=3 fire=2026-01-02T03:04:05.000Z source=scheduled token=17 error=boom`)
		require.NotContains(t, log.String(), "stack")
	}
	handler, log := named(t, errorhandler.Log)
	require.NoError(t, handler.HandleError(t.Context(), "orders", job.ShardingContext{Source: job.Manual}, errBoom))
	require.Contains(t, log.String(), `item=0 fire="" source=manual token=0 error=boom`)
	handler, log = named(t, errorhandler.Log)
	panicked := &job.PanicError{Value: errBoom, Stack: debug.Stack()}
	require.NoError(t, handler.HandleError(t.Context(), "orders", context3, panicked))
	require.Contains(t, log.String(), "panic: boom")
	require.Contains(t, log.String(), "errorhandler_test.go", "the stack")
}

func TestIgnore(t *testing.T) {
	t.Parallel()
	handler, log := named(t, errorhandler.Ignore)
	require.NoError(t, handler.HandleError(t.Context(), "orders", context3, errBoom))
	require.Empty(t, log.String())
}

func TestThrow(t *testing.T) {
	t.Parallel()
	handler, _ := named(t, errorhandler.Throw)
	err := handler.HandleError(t.Context(), "orders", context3, errBoom)
	require.ErrorIs(t, err, job.ErrFailRound)
	require.ErrorIs(t, err, errBoom)
	require.EqualError(t, err, "the round failed: item 3: boom")
}

func TestTheRegistry(t *testing.T) {
	t.Parallel()
	var zero errorhandler.Registry
	_, err := zero.New(job.Config{}, slog.Default())
	var unknown *errorhandler.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "LOG", unknown.Name)

	unheard, err := errorhandler.Default().New(job.Config{}, nil)
	require.NoError(t, err)
	require.NoError(t, unheard.HandleError(t.Context(), "orders", job.ShardingContext{}, errors.New("out of stock")), "nobody hears of it")

	mine := job.ErrorHandlerFunc(func(context.Context, string, job.ShardingContext, error) error { return nil })
	factory := func(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) {
		if cfg.Name == "" {
			return nil, errBoom
		}
		return mine, nil
	}
	require.NoError(t, zero.Register("MINE", factory))
	require.ErrorIs(t, zero.Register("MINE", factory), errorhandler.ErrInvalidHandler)
	require.ErrorIs(t, zero.Register("", factory), errorhandler.ErrInvalidHandler)
	require.ErrorIs(t, zero.Register("OTHER", nil), errorhandler.ErrInvalidHandler)
	require.Equal(t, []string{"MINE"}, zero.Names())
	_, err = zero.New(job.Config{ErrorHandler: "MINE"}, slog.Default())
	require.EqualError(t, err, "error handler MINE: boom")
	handler, err := zero.New(job.Config{Name: "orders", ErrorHandler: "MINE"}, slog.Default())
	require.NoError(t, err)
	require.NotNil(t, handler)
	require.NoError(t, errorhandler.Default().Register("MINE", factory), "each default is a new one")
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	text := errorhandler.Describe("orders", context3, errBoom, 1000)
	require.Equal(t, "Job 'orders' failed: item 3 of 8 (Oslo), fire 2026-01-02T03:04:05Z, scheduled\n"+
		"task orders@-@3@-@READY@-@10.0.0.1@-@5\nboom", text)
	panicked := &job.PanicError{Value: errBoom, Stack: debug.Stack()}
	require.Contains(t, errorhandler.Describe("orders", context3, panicked, 10_000), "errorhandler_test.go")

	long := errors.New(strings.Repeat("ü", 1000) + "\xff")
	for most := range 300 {
		text := errorhandler.Describe("orders", context3, long, most)
		require.LessOrEqual(t, len(text), most)
		require.True(t, utf8.ValidString(text))
	}
}

// The error is what people need, and a message has little room.
func TestDescribeHasRoomForTheError(t *testing.T) {
	t.Parallel()
	items := make([]int, 10_000)
	for i := range items {
		items[i] = i
	}
	sc := context3
	sc.TaskID = job.TaskID{Job: "orders", Items: items, Instance: "10.0.0.1@-@5"}.String()
	sc.ItemParameter = strings.Repeat("x", 100_000)
	text := errorhandler.Describe("orders"+strings.Repeat("y", 100_000), sc, errBoom, 1000)
	require.Contains(t, text, "\nboom")
	require.Contains(t, text, ",...@-@READY@-@10.0.0.1@-@5\n")
}
