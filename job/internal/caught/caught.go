// Package caught calls an application's code from goroutines that are not the item's, such as those of os/exec and net/http. What
// the scheduler makes an error on an item's own goroutine would end the process there, or leave who waits for it waiting.
package caught

import (
	"runtime/debug"

	"github.com/elasticron/elasticron/job"
)

// Call calls fn, waits for it, and returns its error: a [*job.PanicError] if it panicked, [job.ErrGoexit] if it ended its
// goroutine. It calls fn on a goroutine of its own, because nothing can keep a goroutine that ends from ending.
func Call(fn func() error) error {
	ended := make(chan error, 1)
	go func() {
		err := job.ErrGoexit // stands if fn neither returns nor panics
		defer func() {
			if value := recover(); value != nil {
				err = &job.PanicError{Value: value, Stack: debug.Stack()}
			}
			ended <- err
		}()
		err = fn()
	}()
	return <-ended
}
