// Package access lets package registry/backend reach what package registry does not show its users: how
// views and sessions are made, and how they are driven.
//
// Package registry offers its functions when a program starts, and package backend takes them. Package
// registry imports this package, so its types cannot be named here: they are type parameters. The compiler
// holds both packages to the same signatures; that both fill in the same types is checked at the start of
// every program that imports package backend.
package access

import (
	"context"
	"fmt"
	"time"
)

// Views are the functions that make views and drive them. The parameters are the types of package registry
// of the same names.
type Views[View, Snapshot, Change, Revision any] struct {
	// New makes a view of the subtree at path that shows first. The view calls advance when somebody waits
	// for a revision that it has not reached, and closed once, when it has ended.
	New func(path string, first Snapshot, advance func(ctx context.Context, to Revision), closed func()) *View

	// Move asks next what the view shows after the present state, and shows that, unless next says that
	// there is nothing new. Moves of one view come one after the other.
	Move func(v *View, next func(now Snapshot) (to Snapshot, changes []Change, moved bool))

	// End ends the view for a reason that its Err gives.
	End func(v *View, reason error)

	// Changed returns the state that the changes, each path once, make of an earlier one.
	Changed func(earlier Snapshot, revision Revision, changes []Change) Snapshot
}

// Sessions are the functions that make sessions and drive them. The parameters are the types of package
// registry of the same names.
type Sessions[Session, SessionID any] struct {
	// New makes a session that the store confirmed in answer to a request sent at sent on clock.
	New func(id SessionID, ttl time.Duration, clock func() time.Duration, sent time.Duration) *Session

	Renew     func(s *Session, sent time.Duration) bool
	Suspend   func(s *Session)
	Lose      func(s *Session, reason error)
	Abandoned func(s *Session) bool
	CloseTime func(s *Session) time.Duration
}

var offered []any

// Offer makes functions available to [Take]. Package registry calls it in an init function.
func Offer(functions any) { offered = append(offered, functions) }

// Take returns the functions of type F that were offered, and panics if there are none.
func Take[F any]() F {
	for _, functions := range offered {
		if f, ok := functions.(F); ok {
			return f
		}
	}
	panic(fmt.Sprintf("access: package registry offers no %T", *new(F)))
}
