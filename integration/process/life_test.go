//go:build linux

package process_test

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
)

// life is one process that runs jobs, from its start to its end.
type life struct {
	*child
	id      string
	journal string
	killed  time.Time // zero = it was not
}

// awaitEvent waits until the process has written down an event of an execution, and returns it.
func (l *life) awaitEvent(kind string, token int64) event {
	l.t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-look.C {
		events, err := readJournal(l.journal)
		require.NoError(l.t, err)
		for _, e := range events {
			if e.Kind == kind && e.Token == token {
				return e
			}
		}
	}
	require.Fail(l.t, fmt.Sprintf("%s wrote nothing of %s of token %d", l.id, kind, token))
	return event{}
}
