package job_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

func TestProtectPassesErrorsOn(t *testing.T) {
	t.Parallel()
	require.NoError(t, job.Protect(func() error { return nil }))
	require.Equal(t, io.EOF, job.Protect(func() error { return io.EOF }))
}

func TestProtectMakesPanicsErrors(t *testing.T) {
	t.Parallel()
	err := job.Protect(func() error { panic("disk on fire") })
	var caught *job.PanicError
	require.ErrorAs(t, err, &caught)
	require.Equal(t, "disk on fire", caught.Value)
	require.Contains(t, string(caught.Stack), "TestProtectMakesPanicsErrors")
	require.EqualError(t, err, "panic: disk on fire")
	require.NoError(t, errors.Unwrap(err))
}

func TestPanicErrorIsTheErrorThatItWasCalledWith(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, job.Protect(func() error { panic(io.EOF) }), io.EOF)
}

func TestProtectMakesTheEndOfTheGoroutineAnError(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, job.Protect(func() error { runtime.Goexit(); return nil }), job.ErrGoexit)
	require.ErrorIs(t, job.Protect(func() error {
		defer func() { _ = recover() }()
		defer runtime.Goexit() // takes the place of the panic
		panic("lost")
	}), job.ErrGoexit)
}

func TestGoTellsHowTheCodeEnded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code func() error
		want error
	}{
		"it returns":            {func() error { return nil }, nil},
		"it fails":              {func() error { return io.EOF }, io.EOF},
		"it panics":             {func() error { panic(io.EOF) }, io.EOF},
		"it ends its goroutine": {func() error { runtime.Goexit(); return nil }, job.ErrGoexit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error)
			job.Go(test.code, func(err error) { ended <- err })
			require.ErrorIs(t, <-ended, test.want)
		})
	}
}

func TestAHandlerFuncIsAHandler(t *testing.T) {
	t.Parallel()
	var handler job.Handler = job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		return errors.New(sc.ItemParameter)
	})
	run, err := handler.Configure(job.Config{})
	require.NoError(t, err)
	require.EqualError(t, run(t.Context(), job.ShardingContext{ItemParameter: "A"}), "A")
}
