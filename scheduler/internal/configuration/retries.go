package configuration

import (
	"math/bits"
	"time"
)

// hourly is after how many retries an hour is over.
const hourly = int8(time.Hour / AskAgain)

// retries are how often code has been asked once more about a configuration that it refuses. It may say each time in other
// words why, as with an address or an id in an error, so the log has it after the first, second, fourth … of them, and then
// each hour. It is small: each job has one.
type retries struct {
	n     int8
	going bool // one begins
}

// asked counts a retry, which is over when it has begun.
func (r *retries) asked() {
	r.going = true
	if r.n++; r.n == 2*hourly {
		r.n = hourly
	}
}

func (r *retries) over() { r.going = false }

// begin hears that a configuration is taken up; that is the first time, unless it is a retry.
func (r *retries) begin() {
	if !r.going {
		r.n = 0
	}
}

// known tells whether the log knows enough of what a retry has found.
func (r *retries) known() bool {
	if r.n < hourly {
		return bits.OnesCount8(uint8(r.n)) > 1
	}
	return r.n > hourly
}
