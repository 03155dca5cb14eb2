package operate

import (
	"errors"
	"fmt"
	"strings"
)

// Cause says in a word why an operation was refused.
type Cause string

// The causes.
const (
	CauseUnknownJob    Cause = "unknown job"    // there is no such job
	CauseUnknownTarget Cause = "unknown target" // the job has no such item, server, instance or operation
	CauseExists        Cause = "exists"         // there is such a job already
	CauseAlready       Cause = "already so"     // there is nothing to do
	CauseInvalid       Cause = "invalid"        // what is asked for is not allowed
	CauseStale         Cause = "stale"          // it is not any more what was shown
	CauseNoInstance    Cause = "no instance"    // nobody lives who would do it
	CauseAlive         Cause = "alive"          // somebody lives who must not
	CausePending       Cause = "pending"        // an earlier operation goes on
	CauseUnusable      Cause = "unusable"       // the job's configuration cannot be used, and the job pauses
	CauseUnreadable    Cause = "unreadable"     // what operators did cannot be read
	CauseNewer         Cause = "newer"          // a newer version wrote what operators did
	CauseOvertaken     Cause = "overtaken"      // it was done, and later operations have taken its place
	CauseUsed          Cause = "used"           // another operation has this id
	CauseFiles         Cause = "other files"    // the files of somebody else, or of a later version, decide about the job
	CauseDenied        Cause = "denied"         // the registry does not let this user do it
	CauseOwned         Cause = "owned"          // a session owns a node that is to be written
	CauseNoSpace       Cause = "no space"       // the registry is full
	CauseTooLarge      Cause = "too large"      // the registry does not take so much at once
)

// Refusal says why an operation was not done. Nothing was written.
type Refusal struct {
	Verb   Verb
	Job    string
	Target string
	Cause  Cause
	Why    string // in a sentence; empty if Err says it all
	Do     string // what to do instead; empty if there is nothing
	// Forcible tells that [Options.Force] consents to it.
	Forcible bool
	// Replaceable tells that [Trigger].Replace consents to it: an earlier trigger goes on.
	Replaceable bool
	// Changes are, for [CauseStale], how what was shown and what is differ.
	Changes []Change
	// Err is what is behind it, if anything is.
	Err error
}

// Error reads `disable item 3 of "orders" refused: it is disabled already, by anna ...; nothing is to be done`.
func (r *Refusal) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s refused", name(r.Verb, r.Job, r.Target))
	if r.Why != "" {
		fmt.Fprintf(&text, ": %s", r.Why)
	}
	for _, c := range r.Changes {
		fmt.Fprintf(&text, "; %s", c)
	}
	if r.Err != nil {
		fmt.Fprintf(&text, ": %s", strings.ReplaceAll(r.Err.Error(), "\n", "; ")) // one line, whatever is behind it
	}
	if r.Do != "" {
		fmt.Fprintf(&text, "; %s", r.Do)
	}
	return text.String()
}

// Unwrap gives what is behind it.
func (r *Refusal) Unwrap() error { return r.Err }

// IsRefused tells whether an operation was refused, and why.
func IsRefused(err error) (Cause, bool) {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Cause, true
	}
	return "", false
}

// refuse makes a refusal; the shell completes it with verb, job and target.
func refuse(cause Cause, do, why string, args ...any) *Refusal {
	return &Refusal{Cause: cause, Why: fmt.Sprintf(why, args...), Do: do}
}

// invalid refuses what is not allowed, by what says so.
func invalid(err error) *Refusal {
	return &Refusal{Cause: CauseInvalid, Err: err}
}

// UnconfirmedError says that an operation was done, or a removal begun, and that the job was not seen to have
// followed: the context ended, the view of the job did, or somebody did something else meanwhile. errors.Is finds the
// reason.
type UnconfirmedError struct {
	Result Result
	Err    error
}

// Error names the operation, what was waited for and why no longer.
func (e *UnconfirmedError) Error() string {
	p := e.Result.Progress
	is := "is done"
	if e.Result.Verb == VerbRemove {
		is = "has begun"
	}
	text := fmt.Sprintf("%s %s (operation %s), and not confirmed yet: %s", e.Result.Plan, is, e.Result.ID, p.Text)
	if p.Of > 0 {
		text += fmt.Sprintf(" (%d of %d)", p.Ready, p.Of)
	}
	return text + ": " + e.Err.Error()
}

// Unwrap gives why it was not waited for any longer.
func (e *UnconfirmedError) Unwrap() error { return e.Err }
