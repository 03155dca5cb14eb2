package script

import (
	"bytes"
	"log/slog"
)

// longestLine is where a line of output is cut in two for the log.
const longestLine = 8 << 10

// lines logs what is written to it, line by line.
type lines struct {
	log  *slog.Logger
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		room := longestLine - len(l.rest)
		switch {
		case end >= 0 && end <= room:
			l.rest = append(l.rest, p[:end]...)
			p = p[end+1:]
		case len(p) >= room:
			l.rest = append(l.rest, p[:room]...)
			p = p[room:]
		default:
			l.rest = append(l.rest, p...)
			return written, nil
		}
		l.flush()
	}
	return written, nil
}

// flush logs what has no end of line yet.
func (l *lines) flush() {
	if len(l.rest) > 0 {
		l.log.Info("script", "output", string(bytes.TrimRight(l.rest, "\r")))
	}
	l.rest = l.rest[:0]
}
