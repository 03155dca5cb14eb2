package scheduler

import (
	"fmt"
	"time"
)

// defaultListenerTimeout is how long a listener may take if nothing else is said.
const defaultListenerTimeout = 30 * time.Second

// WithConnectionListener adds a listener to the process's session with the registry: that it was
// established, is in doubt, is back, or is lost. Of several, each hears everything. The default is
// none.
//
// Nothing waits for the listener: items are cancelled and begin as they would without it. What it
// returns, its panic, or that it took longer than the listener timeout is logged and told to the
// observer.
func WithConnectionListener(listener ConnectionListener) Option {
	return func(o *options) error {
		if listener == nil {
			return fmt.Errorf("%w: connection listener is nil", ErrInvalidOption)
		}
		o.connectionListeners = append(o.connectionListeners, listener)
		return nil
	}
}

// WithLeadershipListener adds a listener that hears when this process becomes, or ceases to be, the leader of
// a job, for every job that it takes part in. It is for information: between the call and what the
// listener does, somebody else may lead already. For the rest it is as [WithConnectionListener].
func WithLeadershipListener(listener LeadershipListener) Option {
	return func(o *options) error {
		if listener == nil {
			return fmt.Errorf("%w: leadership listener is nil", ErrInvalidOption)
		}
		o.leadershipListeners = append(o.leadershipListeners, listener)
		return nil
	}
}

// WithListenerTimeout bounds one call of any listener. Then its context ends with the cause
// [ErrListenerTimeout], and a second later what waited for it goes on; code that does not return even
// then is left behind on its goroutine. A stop may end the contexts earlier: see [WithStopTimeout]. The
// default is 30 seconds.
func WithListenerTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d <= 0 {
			return fmt.Errorf("%w: listener timeout %s must be above 0", ErrInvalidOption, d)
		}
		o.listenerTimeout = d
		return nil
	}
}
