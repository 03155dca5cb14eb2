package protect_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Nobody waits for code that does not return.
func TestWithinTheTimeOfWhoWaits(t *testing.T) {
	t.Parallel()
	returned, err := protect.Within(t.Context(), func() error { panic(io.EOF) })
	require.True(t, returned)
	require.ErrorIs(t, err, io.EOF)
	ctx, cancel := context.WithCancelCause(t.Context())
	hangs := make(chan struct{})
	defer close(hangs)
	returned, err = protect.Within(ctx, func() error {
		cancel(io.ErrUnexpectedEOF)
		<-hangs
		return nil
	})
	require.False(t, returned)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
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

func TestErrorsOfGoodMethodsAreFound(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&unset{"set"}, errors.Join(io.EOF, &unset{"set"}), &job.PanicError{Value: io.EOF}} {
		returned := protect.Call(func() error { return fmt.Errorf("wrapped: %w", err) })
		require.ErrorIs(t, returned, err)
		require.EqualError(t, returned, "wrapped: "+err.Error())
		require.Equal(t, err, protect.Original(protect.Call(func() error { return err })))
	}
	require.Equal(t, spiteful{}, protect.Original(protect.Call(func() error { return spiteful{} })))
	var found *unset
	require.ErrorAs(t, protect.Call(func() error { return errors.Join(io.EOF, &unset{"set"}) }), &found)
	require.Equal(t, "set", found.text)
}

// Who compares errors with == finds those that are a text and nothing else, and nothing is wrapped twice.
func TestErrorsThatCannotChangeStay(t *testing.T) {
	t.Parallel()
	kept := protect.Call(func() error { return &unset{"set"} })
	for _, err := range []error{io.EOF, fmt.Errorf("item %d", 1), kept} {
		require.Same(t, err, protect.Call(func() error { return err }))
	}
	require.Same(t, io.EOF, protect.Original(io.EOF))
}

// What a method did once it need not do again: it may come to wait for a mutex, or panic.
func TestTheTextOfAnErrorIsAskedForOnce(t *testing.T) {
	t.Parallel()
	for name, called := range map[string]func(error) error{
		"returned":              func(err error) error { return err },
		"wrapped":               func(err error) error { return fmt.Errorf("deep: %w", err) },
		"joined":                func(err error) error { return errors.Join(io.EOF, err) },
		"the value of a panic":  func(err error) error { panic(err) },
		"in an error of a file": func(err error) error { return &fs.PathError{Err: err} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			returned := protect.Call(func() error {
				return called(spiteful{loud: func() {
					if asked++; asked > 1 {
						panic("asked again")
					}
				}})
			})
			require.ErrorContains(t, returned, "spiteful")
			require.Equal(t, returned.Error(), fmt.Errorf("again: %w", returned).Error()[len("again: "):])
			require.Equal(t, 1, asked)
		})
	}
}

// elsewhere is an error of this module that has a type of its own.
type elsewhere struct{ error }

func (elsewhere) Is(target error) bool { return target == io.ErrUnexpectedEOF }

func TestIsAndAsAskNothingOfCode(t *testing.T) {
	t.Parallel()
	asked := 0
	count := func() { asked++ }
	of := protect.Call(func() error {
		return errors.Join(spiteful{is: count, as: count, unwrap: count}, io.EOF, elsewhere{io.EOF})
	})
	before := asked
	for _, err := range []error{of, fmt.Errorf("wrapped: %w", of), errors.Join(of, io.ErrClosedPipe)} {
		require.False(t, protect.Is(err, io.EOF), "it is the code's")
		_, is := protect.As[elsewhere](err)
		require.False(t, is)
	}
	require.Equal(t, before, asked)

	require.True(t, protect.Is(errors.Join(of, io.EOF), io.EOF))
	require.True(t, protect.Is(fmt.Errorf("%w: %w", of, io.EOF), io.EOF))
	ours := fmt.Errorf("wrapped: %w", elsewhere{io.EOF})
	require.True(t, protect.Is(ours, io.ErrUnexpectedEOF))
	found, is := protect.As[elsewhere](ours)
	require.True(t, is)
	require.Equal(t, elsewhere{io.EOF}, found)
	require.False(t, protect.Is(nil, io.EOF))
}
