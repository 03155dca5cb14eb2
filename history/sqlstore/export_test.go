package sqlstore

import (
	"context"
	"time"
)

// SetClock sets the clock of the process.
func SetClock(s *Store, now func() time.Time) { s.now = now }

// SetElsewhere has the database be on another machine.
func SetElsewhere(s *Store) { s.isHere = func(bool, string) bool { return false } }

// IsHere tells whether a database is on this machine.
var IsHere = isHere

// Rounds returns what [Store.Retain] does each time.
func Rounds(s *Store, keep time.Duration) func(context.Context) {
	var said limit
	return func(ctx context.Context) { s.retainOnce(ctx, keep, &said) }
}
