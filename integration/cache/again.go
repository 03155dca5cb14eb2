package cache

import (
	"context"
	"time"
)

// pauses are those before what failed is tried again.
var pauses = []time.Duration{5 * time.Second, 20 * time.Second, time.Minute}

// Again does what brings something from elsewhere. Other people's servers fail now and then, which says nothing of what
// is tested: so it is tried again, up to three times, if may is true of its error.
func Again(ctx context.Context, do func() error, may func(error) bool) error {
	err := do()
	for _, pause := range pauses {
		if err == nil || !may(err) {
			break
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			err = do()
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
	return err
}

// Always is true of every error.
func Always(error) bool { return true }
