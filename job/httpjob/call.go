package httpjob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/internal/webcall"
)

// longestPause bounds the pause before a retry, also one that the server asks for.
const longestPause = time.Minute

// errTryAgain is all that the retry library hears of a failure that may pass.
var errTryAgain = errors.New("try again")

var errTotalTimeout = fmt.Errorf("call took longer than its total timeout: %w", job.ErrTimeout)

// passing are the statuses that another call may not meet.
var passing = []int{
	http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// Error is an answer that is a failure.
type Error struct {
	Method, Address string // the address as the settings have it, a reference or without user, password and query
	Status          int
	Answer          string // its end
}

// Error names the call, the status and the end of the answer.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s: status %d %s", e.Method, e.Address, e.Status, http.StatusText(e.Status))
	if e.Answer != "" {
		text += ": " + e.Answer
	}
	return text
}

// call is a job made ready to run.
type call struct {
	caller  *webcall.Caller
	address string
	shown   string // the address as errors have it
	method  string
	data    string
	header  http.Header
	total   time.Duration
	strict  bool
	retries int
	pause   time.Duration
	sign    func(req *http.Request, body []byte, at time.Time) // nil signs nothing
	output  func(sc job.ShardingContext) io.Writer             // nil: nowhere
}

// run makes the call for an item, and again as the settings say.
func (c *call) run(ctx context.Context, sc job.ShardingContext) error {
	to := io.Discard
	if c.output != nil {
		if wanted := c.output(sc); wanted != nil {
			to = wanted
		}
		if closer, has := to.(io.Closer); has {
			defer closer.Close() //nolint:errcheck // what became of the run is known by then
		}
	}
	if c.retries == 0 {
		_, err := c.once(ctx, sc, to)
		return err
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier = max(c.pause, time.Millisecond), longestPause, 2
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		after, err := c.once(ctx, sc, to)
		last = err
		switch {
		case err == nil:
			return struct{}{}, nil
		case !mayPass(err):
			return struct{}{}, backoff.Permanent(err)
		case after > 0:
			return struct{}{}, &backoff.RetryAfterError{Duration: after}
		default:
			return struct{}{}, errTryAgain // not err, whose causes might be orders to the retry library
		}
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(c.retries)+1), backoff.WithMaxElapsedTime(0))
	if err != nil {
		return last // which says more than that it was not tried again
	}
	return nil
}

// mayPass tells whether another call may succeed.
func mayPass(err error) bool {
	var answer *Error
	if errors.As(err, &answer) {
		return slices.Contains(passing, answer.Status)
	}
	for _, lasting := range []error{webcall.ErrTooManyRedirects, webcall.ErrForbidden, webcall.ErrNotWritten, webcall.ErrSwitches} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	return true
}

// once makes one call. It returns how long the server wants to be left alone.
func (c *call) once(ctx context.Context, sc job.ShardingContext, to io.Writer) (time.Duration, error) {
	if c.total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.total, errTotalTimeout)
		defer cancel()
	}
	req, err := c.request(ctx, sc)
	if err != nil {
		return 0, err
	}
	answer, err := c.caller.DoTo(ctx, req, to)
	switch {
	case answer.Status >= http.StatusBadRequest && c.strict:
		failed := error(&Error{Method: c.method, Address: c.shown, Status: answer.Status, Answer: answer.Tail})
		if err != nil { // the status counts, also of an answer that broke off
			failed = fmt.Errorf("%w (%w)", failed, err)
		}
		return retryAfter(answer.Header, time.Now()), failed
	case err != nil && answer.Status != 0:
		return 0, fmt.Errorf("%s %s: status %d %s: %w", c.method, c.shown, answer.Status, http.StatusText(answer.Status), err)
	default:
		return 0, err
	}
}

func (c *call) request(ctx context.Context, sc job.ShardingContext) (*http.Request, error) {
	var body io.Reader
	if c.data != "" && c.method != http.MethodGet && c.method != http.MethodHead {
		body = strings.NewReader(c.data)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, c.address, body)
	if err != nil {
		return nil, err
	}
	webcall.SetHeaders(req, c.header)
	// 3.x spells it so, and HTTP does not care.
	req.Header.Set(ContextHeader, inHeader(sc.JSON()))
	if sc.TriggerParameter != "" {
		text := string(texts.AppendGson(nil, sc.TriggerParameter)) // it may have lines, which a header has not
		req.Header.Set(TriggerParameterHeader, inHeader(text))
	}
	fire := ""
	if !sc.Fire.IsZero() {
		fire = sc.Fire.UTC().Format(time.RFC3339Nano)
	}
	req.Header.Set(JobHeader, sc.JobName)
	req.Header.Set(ItemHeader, strconv.Itoa(sc.Item))
	req.Header.Set(FireHeader, fire)
	req.Header.Set(TokenHeader, strconv.FormatInt(sc.Token, 10))
	return req, c.signed(req)
}

// inHeader escapes the one character that may stand in JSON and not in a header.
func inHeader(text string) string { return strings.ReplaceAll(text, "\x7f", `\u007f`) }

// signed signs a request, with the body that it really has: after some redirects it has none.
func (c *call) signed(req *http.Request) error {
	if c.sign == nil {
		return nil
	}
	var body []byte
	if req.GetBody != nil {
		again, err := req.GetBody()
		if err != nil {
			return err
		}
		if body, err = io.ReadAll(again); err != nil {
			return err
		}
	}
	c.sign(req, body, time.Now())
	return nil
}

// retryAfter reads what a server says of when to come back, in seconds or as a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	seconds, err := strconv.Atoi(text)
	if errors.Is(err, strconv.ErrRange) { // Atoi gives what comes nearest
		err = nil
	}
	if err == nil && seconds > 0 {
		return min(time.Duration(min(seconds, int(longestPause/time.Second)))*time.Second, longestPause)
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return min(at.Sub(now), longestPause)
	}
	return 0
}
