package callback

import (
	"bytes"
	"crypto/hmac"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/option"
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

// ErrInvalidOption says that an option of [NewVerifier] has a value that is not allowed. It is one error in all packages
// of this module: errors.Is finds it by the name that any of them gives it.
var ErrInvalidOption = option.ErrInvalid

// Option changes a [Verifier].
type Option func(*Verifier) error

// WithTolerance sets how far the time of a call may be from this machine's, to either side. It must be
// positive. The default is [DefaultTolerance].
func WithTolerance(d time.Duration) Option {
	return func(v *Verifier) error {
		if d <= 0 {
			return fmt.Errorf("%w: tolerance %s must be positive", ErrInvalidOption, d)
		}
		v.tolerance = d
		return nil
	}
}

// WithMaxBody sets how many bytes of a body are read. It must be positive, and less than the greatest number. The
// default is [DefaultMaxBody].
func WithMaxBody(bytes int64) Option {
	return func(v *Verifier) error {
		if bytes <= 0 || bytes == math.MaxInt64 {
			return fmt.Errorf("%w: %d bytes of a body must be from 1 to %d", ErrInvalidOption, bytes, int64(math.MaxInt64-1))
		}
		v.maxBody = bytes
		return nil
	}
}

// WithClock sets where the verifier reads the time, for tests. The default is [time.Now].
func WithClock(now func() time.Time) Option {
	return func(v *Verifier) error {
		if now == nil {
			return fmt.Errorf("%w: clock is nil", ErrInvalidOption)
		}
		v.now = now
		return nil
	}
}

// NewVerifier returns a verifier that takes signatures of one key or, while they change, of either of two. The error
// is [ErrKey], [ErrInvalidOption], or both.
func NewVerifier(keys [][]byte, opts ...Option) (*Verifier, error) {
	v := &Verifier{keys: keys, tolerance: DefaultTolerance, maxBody: DefaultMaxBody, now: time.Now}
	faults := []error{checkKeys(keys)}
	faults = append(faults, option.Apply(v, opts)...)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return v, nil
}

// Verify reads the body of a request and judges its signature. After that the body can be read once more. The errors
// are [ErrNoSignature], [ErrSignature], [ErrTime], [ErrTooLarge], and those of reading.
func (v *Verifier) Verify(r *http.Request) error {
	if r.Body == nil { // as of a request that no server has read
		r.Body = http.NoBody
	}
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
