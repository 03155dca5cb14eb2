//go:build !linux

package fires

import "time"

// bell is none: only on Linux is it known that a timer of Go's rings late, and what rings sooner.
type bell struct{}

func newBell(func()) *bell { return nil }

func (*bell) set(time.Duration) {}
func (*bell) close()            {}
