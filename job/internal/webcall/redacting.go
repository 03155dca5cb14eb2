package webcall

import "io"

// longestSecret is more than a secret can have: a file has 64 KiB at most, and a variable of Linux 128 KiB.
const longestSecret = 128 << 10

// redacting writes to another writer what is written to it, with secrets replaced, also one that comes in parts. It is
// for one goroutine at a time. Flush it at the end.
type redacting struct {
	to     io.Writer
	redact Redactor
	held   []byte
}

// Write writes on what certainly holds no part of a secret that goes on.
func (r *redacting) Write(p []byte) (int, error) {
	r.held = append(r.held, p...)
	if len(r.held) < 2*longestSecret {
		return len(p), nil
	}
	// A secret that begins this long before the end is there as a whole, and so is replaced.
	shown := r.redact.Redact(string(r.held))
	most := max(0, len(shown)-longestSecret)
	r.held = append(r.held[:0], shown[most:]...)
	_, err := io.WriteString(r.to, shown[:most])
	return len(p), err
}

// flush writes on what is left: there will be no more. What was cut may end within a secret.
func (r *redacting) flush(cut bool) error {
	redact := r.redact.Redact
	if cut {
		redact = r.redact.RedactCut
	}
	_, err := io.WriteString(r.to, redact(string(r.held)))
	r.held = nil
	return err
}
