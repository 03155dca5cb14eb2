package protect_test

import (
	"errors"
	"fmt"
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

// unset is an error that is used like many: as a pointer that is nil where nothing is wrong.
type unset struct{ text string }

func (u *unset) Error() string { return u.text }

// spiteful is an error one of whose methods does what none should.
type spiteful struct{ loud, is, as, unwrap func() }

func (s spiteful) Error() string { call(s.loud); return "spiteful" }
func (s spiteful) Is(error) bool { call(s.is); return false }
func (s spiteful) As(any) bool   { call(s.as); return false }
func (s spiteful) Unwrap() error { call(s.unwrap); return nil }

func call(code func()) {
	if code != nil {
		code()
	}
}

// Whoever gets an error reads its text and asks what it is, on goroutines that nothing protects.
func TestErrorsWhoseMethodsPanicAreReplaced(t *testing.T) {
	t.Parallel()
	angry := func() { panic("angry") }
	for name, err := range map[string]error{
		"a nil pointer":              (*unset)(nil),
		"a nil pointer of ours":      (*job.FieldError)(nil),
		"a nil pointer among others": errors.Join(io.EOF, (*unset)(nil)),
		"Error panics":               spiteful{loud: angry},
		"Error ends the goroutine":   spiteful{loud: runtime.Goexit},
		"Is panics":                  spiteful{is: angry},
		"Is panics further down":     fmt.Errorf("deep: %w", spiteful{is: angry}),
		"As panics":                  spiteful{as: angry},
		"Unwrap panics":              spiteful{unwrap: angry},
		"Unwrap ends the goroutine":  spiteful{unwrap: runtime.Goexit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			returned := protect.Call(func() error { return err })
			require.EqualError(t, returned, fmt.Sprintf("the code returned an error of type %T, whose own methods panic", err))
			require.NotErrorIs(t, returned, job.ErrFailRound)

			var caught *job.PanicError
			require.ErrorAs(t, protect.Call(func() error { panic(err) }), &caught)
			require.Contains(t, string(caught.Stack), "TestErrorsWhoseMethodsPanicAreReplaced")
			require.NotErrorIs(t, caught, job.ErrFailRound)
			require.NotEmpty(t, caught.Error())
		})
	}
}

func TestErrorsOfGoodMethodsStay(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&unset{"set"}, spiteful{}, errors.Join(io.EOF, &unset{"set"})} {
		require.Equal(t, err, protect.Call(func() error { return err }))
	}
}
