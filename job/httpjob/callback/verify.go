package callback

import (
	"bytes"
	"crypto/hmac"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The defaults of a [Verifier].
const (
	DefaultTolerance = 5 * time.Minute
	DefaultMaxBody   = 1 << 20
)

// Why a request is not genuine.
var (
	ErrNoSignature = errors.New("the request has no signature")
	ErrSignature   = errors.New("the signature is of another request or key")
	ErrTime        = errors.New("the signature is of another time")
	ErrTooLarge    = errors.New("the body is too large")
)

// Verifier verifies requests. It is safe for concurrent use.
type Verifier struct {
	keys      [][]byte
	tolerance time.Duration
	maxBody   int64
	now       func() time.Time
}

// Option changes a [Verifier].
type Option func(*Verifier)

// WithTolerance sets how far the time of a call may be from this machine's, to either side. The default is
// [DefaultTolerance]; what is not above 0 is the default.
func WithTolerance(d time.Duration) Option {
	return func(v *Verifier) {
		if d > 0 {
			v.tolerance = d
		}
	}
}

// WithMaxBody sets how many bytes of a body are read. The default is [DefaultMaxBody]; what is not above 0 is the
// default.
func WithMaxBody(bytes int64) Option {
	return func(v *Verifier) {
		if bytes > 0 {
			v.maxBody = bytes
		}
	}
}

// WithClock sets where the verifier reads the time, for tests. The default is [time.Now].
func WithClock(now func() time.Time) Option {
	return func(v *Verifier) {
		if now != nil {
			v.now = now
		}
	}
}

// NewVerifier returns a verifier that takes signatures of one key or, while they change, of either of two. The error
// is [ErrKey].
func NewVerifier(keys [][]byte, opts ...Option) (*Verifier, error) {
	if err := checkKeys(keys); err != nil {
		return nil, err
	}
	v := &Verifier{keys: keys, tolerance: DefaultTolerance, maxBody: DefaultMaxBody, now: time.Now}
	for _, set := range opts {
		set(v)
	}
	return v, nil
}

// Verify reads the body of a request and judges its signature. After that the body can be read once more. The errors
// are [ErrNoSignature], [ErrSignature], [ErrTime], [ErrTooLarge], and those of reading.
func (v *Verifier) Verify(r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, v.maxBody+1))
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	if int64(len(body)) > v.maxBody {
		return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, v.maxBody)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	path := r.RequestURI // as it was sent, whatever handlers made of the URL
	if path == "" {
		path = r.URL.RequestURI()
	}
	return v.verify(r.Header.Get(Header), r.Method, path, body)
}

func (v *Verifier) verify(header, method, path string, body []byte) error {
	if header == "" {
		return ErrNoSignature
	}
	t, given := "", [][]byte{}
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			t = value
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil {
				given = append(given, sum)
			}
		}
	}
	genuine := false
	for _, key := range v.keys {
		want := signature(key, t, method, path, body)
		for _, sum := range given {
			genuine = hmac.Equal(sum, want) || genuine
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if !genuine || err != nil {
		return ErrSignature
	}
	if off := v.now().Sub(time.Unix(seconds, 0)); off > v.tolerance || off < -v.tolerance {
		return fmt.Errorf("%w: it is off by %s, and may be by %s", ErrTime, off.Round(time.Second), v.tolerance)
	}
	return nil
}

// Handler serves genuine requests with next, and answers the others with 401, or 413 if they are too large. The answer
// does not say why.
func (v *Verifier) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch err := v.Verify(r); {
		case errors.Is(err, ErrTooLarge):
			http.Error(w, http.StatusText(http.StatusRequestEntityTooLarge), http.StatusRequestEntityTooLarge)
		case err != nil:
			http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
