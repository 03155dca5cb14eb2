package byhand

import "fmt"

// Why is the reason for which a request is not made.
type Why string

// The reasons.
const (
	NotStored     Why = "the job is not stored"
	Unusable      Why = "the job's configuration cannot be used" // Err tells why
	JobDisabled   Why = "the job is disabled"
	NobodyLives   Why = "no instance of the job lives"
	NobodyEnabled Why = "the servers of all instances are disabled"
	NoTime        Why = "the time within which items may begin must be positive"
	BeyondJava    Why = "Java instances take part, which know neither items, parameters nor fires"
	UnknownItems  Why = "there are no such items" // Items
	TwiceNamed    Why = "items are named twice"   // Items
	ItemsDisabled Why = "items are disabled"      // Items
	AllDisabled   Why = "all items are disabled"
	Pending       Why = "the request before is pending" // for Items
	Unwritable    Why = "it cannot be written"          // Err tells why
)

// Fault says why a request is not made. Whoever asked puts it into words of its own.
type Fault struct {
	Why   Why
	Items []int
	Err   error
}

// Error names the reason, and the items or the error behind it.
func (f *Fault) Error() string {
	switch {
	case f.Err != nil:
		return fmt.Sprintf("%s: %s", f.Why, f.Err)
	case f.Items != nil:
		return fmt.Sprintf("%s: %v", f.Why, f.Items)
	}
	return string(f.Why)
}

// Unwrap gives the error behind it.
func (f *Fault) Unwrap() error { return f.Err }
