package demo

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startChild starts this test binary as a child of the demo.
func startChild(t *testing.T, mode string) (*process, <-chan event) {
	t.Helper()
	t.Setenv(childMode, mode)
	events := make(chan event, 10)
	p, err := startProcess([]string{os.Args[0]}, settings{Label: "w1", Items: 4}, os.Stderr, events)
	require.NoError(t, err)
	return p, events
}

func TestProcessGetsItsSettingsAndAnswers(t *testing.T) {
	p, events := startChild(t, "echo")
	var set settings
	require.NoError(t, json.Unmarshal([]byte((<-events).report.Instance), &set))
	require.Equal(t, settings{Label: "w1", Items: 4}, set)

	p.answer(answer{Item: 2, Token: 9, Refused: "why"})
	require.JSONEq(t, `{"item":2,"token":9,"refused":"why"}`, (<-events).report.Instance)
	p.stop()
	p.stop() // says it once
	require.JSONEq(t, `{"stop":true,"item":0,"token":0}`, (<-events).report.Instance)

	require.NoError(t, p.kill(time.Now()))
	e := <-events
	require.True(t, e.ended)
	require.Same(t, p, e.from)
	require.True(t, died(e.err), "%v", e.err)
	require.False(t, p.killed.IsZero())
	p.answer(answer{}) // to nobody
}

func TestProcessThatFails(t *testing.T) {
	_, events := startChild(t, "fail")
	e := <-events
	require.True(t, e.ended)
	require.EqualError(t, e.err, "exit status 3")
	require.False(t, died(e.err))
}

func TestProcessThatWritesGarbage(t *testing.T) {
	_, events := startChild(t, "garbage")
	e := <-events
	require.True(t, e.ended)
	require.ErrorContains(t, e.err, "read reports")
}

func TestProcessThatDiesInTheMiddleOfALine(t *testing.T) {
	_, events := startChild(t, "half")
	e := <-events
	require.True(t, e.ended)
	require.NoError(t, e.err)
}

func TestProcessThatCannotStart(t *testing.T) {
	t.Parallel()
	_, err := startProcess([]string{t.TempDir()}, settings{Label: "w1"}, os.Stderr, nil)
	require.ErrorContains(t, err, "start w1")
}
