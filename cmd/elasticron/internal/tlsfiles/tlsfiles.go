// Package tlsfiles has processes that live long take up certificates, keys and authorities that somebody renews in place.
package tlsfiles

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
)

// Pair is a certificate and its key.
type Pair struct{ kept kept[*tls.Certificate] }

// NewPair reads a certificate and its key, as PEM. The log hears of renewed files; nil is silence.
func NewPair(cert, key string, log *slog.Logger) (*Pair, error) {
	p := &Pair{kept[*tls.Certificate]{files: []string{cert, key}, log: log, parse: func(texts [][]byte) (*tls.Certificate, error) {
		pair, err := tls.X509KeyPair(texts[0], texts[1])
		return &pair, err
	}}}
	return p, p.kept.read()
}

// Client is for [tls.Config.GetClientCertificate].
func (p *Pair) Client(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair := p.kept.now()
	if asked.SupportsCertificate(pair) != nil {
		return &tls.Certificate{}, nil // none, as with tls.Config.Certificates: the server may not insist
	}
	return pair, nil
}

// Server is for [tls.Config.GetCertificate].
func (p *Pair) Server(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.kept.now(), nil }

// Roots are the authorities that servers' certificates are checked against.
type Roots struct{ kept kept[*x509.CertPool] }

// NewRoots reads authorities, as PEM. The log hears of a renewed file; nil is silence.
func NewRoots(file string, log *slog.Logger) (*Roots, error) {
	r := &Roots{kept[*x509.CertPool]{files: []string{file}, log: log, parse: func(texts [][]byte) (*x509.CertPool, error) {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(texts[0]) {
			return nil, errors.New("no certificate in PEM: " + file)
		}
		return pool, nil
	}}}
	return r, r.kept.read()
}

// Pool returns the authorities as they are now.
func (r *Roots) Pool() *x509.CertPool { return r.kept.now() }

// kept is what files hold. It reads them whenever it is asked, and does not go by their times, as two writes may have the same.
type kept[T any] struct {
	files []string
	parse func(texts [][]byte) (T, error)
	log   *slog.Logger

	mu    sync.Mutex
	texts [][]byte
	value T
	bad   bool // and the log knows
}

// now returns what the files hold, or held when they were last in order: somebody may have written half of them.
func (k *kept[T]) now() T {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.texts
	err := k.read()
	if k.log != nil {
		switch {
		case err != nil && !k.bad:
			k.log.Warn("renewed TLS files cannot be used, the last good ones stay in use", "files", k.files, "error", err)
		case err == nil && !same(before, k.texts):
			k.log.Info("renewed TLS files are in use", "files", k.files)
		}
	}
	k.bad = err != nil
	return k.value
}

func (k *kept[T]) read() error {
	texts := make([][]byte, len(k.files))
	for i, file := range k.files {
		var err error
		if texts[i], err = os.ReadFile(file); err != nil {
			return err
		}
	}
	if same(texts, k.texts) {
		return nil
	}
	value, err := k.parse(texts)
	if err != nil {
		return err
	}
	k.texts, k.value = texts, value
	return nil
}

func same(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
