package room

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// RetryAfter is how long a runner waits after a refusal that no event will end, such as a full registry, and how
// long an end or a hook that could not be recorded waits for the next try.
const RetryAfter = time.Second

// Hopeless tells whether the transaction itself is what the registry refuses: the same one will never
// be done.
func Hopeless(err error) bool {
	for _, reason := range []error{registry.ErrInvalid, registry.ErrTooLarge, registry.ErrOwned, registry.ErrUnsupported} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// Final tells whether asking again cannot change the answer.
func Final(err error) bool {
	return err == nil || errors.Is(err, registry.ErrConflict) || errors.Is(err, registry.ErrClosed) || Hopeless(err)
}
