package main

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// linePatience is how long a process that stops waits for its log to take a line.
const linePatience = time.Second

// logLines writes log lines. When the process stops, a log that nobody reads any more does not hold it up: what it does not
// take within a while is lost.
type logLines struct {
	out     io.Writer
	writing chan struct{} // has room for whoever writes
	stops   chan struct{} // closed when the process stops
	hurry   func()        // says that the process stops
}

func newLogLines(out io.Writer) *logLines {
	l := &logLines{out: out, writing: make(chan struct{}, 1), stops: make(chan struct{})}
	l.hurry = sync.OnceFunc(func() { close(l.stops) })
	return l
}

// Write writes a line, or loses it. It never fails.
func (l *logLines) Write(line []byte) (int, error) {
	select {
	case l.writing <- struct{}{}:
	default: // another line is not written yet
		select {
		case l.writing <- struct{}{}:
		case <-l.stops: // and was given up
			return len(line), nil
		}
	}
	wrote, text := make(chan struct{}), bytes.Clone(line)
	go func() {
		defer close(wrote)
		_, _ = l.out.Write(text) // a logger tells nobody either
		<-l.writing
	}()
	select {
	case <-wrote:
		return len(line), nil
	case <-l.stops:
	}
	patience := time.NewTimer(linePatience)
	defer patience.Stop()
	select {
	case <-wrote:
	case <-patience.C:
	}
	return len(line), nil
}
