package output

import (
	"bytes"
	"cmp"
	"io"
	"slices"
)

// Hidden stands for a secret.
const Hidden = "[hidden]"

// MinSecret is how many bytes a secret has at least to be hidden: shorter ones would be found everywhere.
const MinSecret = 5

// Redactor writes to another writer what is written to it, with [Hidden] for each secret, also for one that comes in
// parts. It is for one goroutine at a time. Flush it at the end.
type Redactor struct {
	to      io.Writer
	secrets [][]byte // the longest first
	begins  [256]bool
	held    []byte // may be the beginning of a secret
}

// NewRedactor returns one for these secrets; those shorter than [MinSecret] stay.
func NewRedactor(to io.Writer, secrets []string) *Redactor {
	r := &Redactor{to: to}
	for _, s := range secrets {
		if len(s) >= MinSecret {
			r.secrets = append(r.secrets, []byte(s))
			r.begins[s[0]] = true
		}
	}
	slices.SortFunc(r.secrets, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	return r
}

// Write writes on what certainly is no secret or a whole one, and keeps the rest for later.
func (r *Redactor) Write(p []byte) (int, error) {
	if len(r.secrets) == 0 {
		return r.to.Write(p)
	}
	r.held = append(r.held, p...)
	return len(p), r.pass(false)
}

// Flush writes on what is left: there will be no more.
func (r *Redactor) Flush() error { return r.pass(true) }

func (r *Redactor) pass(last bool) error {
	var out []byte
	from, at := 0, 0
	for at < len(r.held) {
		if !r.begins[r.held[at]] {
			at++
			continue
		}
		secret, more := r.match(r.held[at:])
		if more && !last {
			break
		}
		if secret == 0 {
			at++
			continue
		}
		out = append(append(out, r.held[from:at]...), Hidden...)
		at += secret
		from = at
	}
	out = append(out, r.held[from:at]...)
	r.held = append(r.held[:0], r.held[at:]...)
	if len(out) == 0 {
		return nil
	}
	_, err := r.to.Write(out)
	return err
}

// match returns the length of the longest secret with which a text begins, and whether a longer one may follow with
// more text.
func (r *Redactor) match(text []byte) (length int, more bool) {
	for _, s := range r.secrets {
		switch {
		case bytes.HasPrefix(text, s):
			return len(s), more
		case bytes.HasPrefix(s, text):
			more = true
		}
	}
	return 0, more
}
