package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

var errNoAnswer = fmt.Errorf("%w: no answer", registry.ErrUnavailable)

// waiting is a start that opens a registry, each try of which takes five seconds as etcd's do.
type waiting struct {
	*program
	log   bytes.Buffer
	tries int
}

func (w *waiting) open(ctx context.Context, answer func() (registry.Registry, error)) (registry.Registry, error) {
	return w.newStartWait(slog.New(slog.NewTextHandler(&w.log, nil))).open(ctx, func(ctx context.Context) (registry.Registry, error) {
		w.tries++
		wait(ctx, 5*time.Second)
		return answer()
	})
}

func newWaiting(variables map[string]string) *waiting {
	p := newProgram()
	p.env = func(name string) string { return variables[name] }
	return &waiting{program: p}
}

// A process that starts while its registry is away begins when that answers, and tells of it in a few lines.
func TestAStartWaitsForTheRegistry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, began := newWaiting(nil), time.Now()
		reg, err := w.open(t.Context(), func() (registry.Registry, error) {
			if time.Since(began) < 100*time.Second {
				return nil, errNoAnswer
			}
			return memory.NewServer().Open("shop"), nil
		})
		require.NoError(t, err)
		require.NoError(t, reg.Close(t.Context()))
		require.Equal(t, 17, w.tries)
		require.LessOrEqual(t, time.Since(began), 107*time.Second)
		log := w.log.String()
		require.True(t, strings.HasSuffix(log, "msg=\""+logAnswers+"\"\n"), log)
		require.LessOrEqual(t, strings.Count(log, logNotYet), 5, log)
	})
}

// The wait is over before the startup probe of the chart ends the process without a word.
func TestAStartThatWaitsInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, began := newWaiting(nil), time.Now()
		_, err := w.open(t.Context(), func() (registry.Registry, error) { return nil, errNoAnswer })
		require.ErrorIs(t, err, registry.ErrUnavailable)
		require.Greater(t, time.Since(began), 4*time.Minute)
		require.Less(t, time.Since(began), 5*time.Minute-20*time.Second)
	})
}

// What another try would not change is told at once, and a process that is asked to stop does not wait.
func TestAStartThatDoesNotWait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err       error
		variables map[string]string
	}{
		"a refusal":     {fmt.Errorf("%w: wrong password", registry.ErrDenied), nil},
		"another error": {errors.New("no such file"), nil},
		"under systemd": {errNoAnswer, map[string]string{"NOTIFY_SOCKET": "/run/systemd/notify"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWaiting(test.variables)
				_, err := w.open(t.Context(), func() (registry.Registry, error) { return nil, test.err })
				require.ErrorIs(t, err, test.err)
				require.Equal(t, 1, w.tries)
				require.Empty(t, w.log.String())
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w, began := newWaiting(nil), time.Now()
		_, err := w.open(ctx, func() (registry.Registry, error) { return nil, errNoAnswer })
		require.ErrorIs(t, err, registry.ErrUnavailable)
		require.Equal(t, time.Minute, time.Since(began))
	})
}
