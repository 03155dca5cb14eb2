//go:build linux

package process_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// journal is where an instance writes its events. Each is in the hands of the kernel when note returns,
// so that it outlives the process.
type journal struct {
	instance string
	mu       sync.Mutex
	file     *os.File
}

func openJournal(path, instance string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &journal{instance: instance, file: file}, err
}

// note writes an event down. What happened is lost if that fails, so the process must not go on.
func (j *journal) note(e event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.moment, e.Instance = now(), j.instance
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "panic: journal:", err)
		os.Exit(1)
	}
}

// readJournal returns the events of a journal. One that was not written to its end is none.
func readJournal(path string) ([]event, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	whole := string(text[:strings.LastIndexByte(string(text), '\n')+1])
	var events []event
	for line := range strings.Lines(whole) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("journal %s: line %q: %w", path, line, err)
		}
		events = append(events, e)
	}
	return events, nil
}

func TestJournalKeepsWhatWasWrittenToItsEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	sc := job.ShardingContext{JobName: "orders", Item: 3, TotalCount: 4, JobParameter: "x", Source: job.Misfire, Token: 17}
	j, err := openJournal(path, "127.0.0.1@-@1")
	require.NoError(t, err)
	defer j.file.Close()
	j.note(eventOf(kindBegan, sc, nil))
	j.note(eventOf(kindRefused, sc, fmt.Errorf("end: %w", registry.ErrSessionLost)))
	_, err = j.file.WriteString(`{"kind":"ended",`)
	require.NoError(t, err)

	events, err := readJournal(path)
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, sc, events[0].context())
	require.Equal(t, "127.0.0.1@-@1", events[0].Instance)
	require.NoError(t, events[0].Failure.err())
	require.ErrorIs(t, events[1].Failure.err(), registry.ErrSessionLost)
	require.GreaterOrEqual(t, events[1].Boot, events[0].Boot)
	require.Less(t, events[0].drift().Abs(), slack)
}
