package protect_test

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
)

func TestCallPassesErrorsOn(t *testing.T) {
	t.Parallel()
	require.NoError(t, protect.Call(func() error { return nil }))
	require.Equal(t, io.EOF, protect.Call(func() error { return io.EOF }))
}

func TestCallMakesPanicsErrors(t *testing.T) {
	t.Parallel()
	err := protect.Call(func() error { panic("disk on fire") })
	var caught *job.PanicError
	require.ErrorAs(t, err, &caught)
	require.Equal(t, "disk on fire", caught.Value)
	require.Contains(t, string(caught.Stack), "TestCallMakesPanicsErrors")
	require.EqualError(t, err, "panic: disk on fire")
	require.NoError(t, errors.Unwrap(err))
}

func TestPanicErrorIsTheErrorThatItWasCalledWith(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, protect.Call(func() error { panic(io.EOF) }), io.EOF)
}

func TestCallMakesTheEndOfTheGoroutineAnError(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, protect.Call(func() error { runtime.Goexit(); return nil }), job.ErrGoexit)
	require.ErrorIs(t, protect.Call(func() error {
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
			protect.Go(test.code, func(err error) { ended <- err })
			require.ErrorIs(t, <-ended, test.want)
		})
	}
}
