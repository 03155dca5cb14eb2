package demo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/elasticron/elasticron/internal/option"
)

// What callers branch on.
var (
	// ErrInvalidOption: an option has a value that is not allowed.
	ErrInvalidOption = option.ErrInvalid
	// ErrInexact: some file was missed or counted twice. The output says which round and item.
	ErrInexact = errors.New("the check failed")
	// ErrInterrupted: the context ended before the demo had shown everything, and what it had shown
	// was exact.
	ErrInterrupted = errors.New("interrupted")
)

// Options say what is shown. The zero value of a field has no meaning of its own: start from
// [Defaults].
type Options struct {
	// Dir is the tree whose files are counted. Empty means the Go toolchain's own sources.
	Dir string
	// Endpoints are the client URLs of an etcd cluster. None means a server of the demo's own. In a
	// given cluster the demo uses a namespace of its own and removes it at the end; if the demo itself
	// is killed, what it wrote stays there.
	Endpoints []string
	// Items is the sharding total count, Processes how many share them at first.
	Items, Processes int
	// Every is the time between rounds, in whole seconds. Zero means one second, or more if the tree
	// is so large that this machine takes longer for a round.
	Every time.Duration
	// Rounds is how many rounds are shown at least. The demo goes on until all has happened that it
	// wants to show. Zero means as many as make about 20 seconds, and at least 8.
	Rounds int
	// Keep has it go on until the context ends.
	Keep bool
	// Console is an address of this machine at which the console shows the demo's cluster; empty: there is none.
	Console string
	// Command starts a process: a program and its arguments that end up in [Work].
	Command []string
	// Out is where it is shown, and Colour whether with colours.
	Out    io.Writer
	Colour bool
	// Log receives the logs of all processes. Nil means a file, which is kept if something failed.
	Log *os.File
}

// The bounds of [Options].
const (
	leastProcesses = 2 // one is killed
	mostProcesses  = 32
	leastItems     = 2
	mostItems      = 1000
	leastRounds    = 3
	leastEvery     = time.Second
)

// Defaults returns what the demo shows by itself. Command and Out are the caller's to set.
func Defaults() Options { return Options{Items: 8, Processes: 3} }

// Check reports every fault of the options at once; each is [ErrInvalidOption].
func (o Options) Check() error {
	var faults []error
	between := func(name string, value, least, most int) {
		if value < least || value > most {
			faults = append(faults, fmt.Errorf("%w: %s is %d, want %d to %d", ErrInvalidOption, name, value, least, most))
		}
	}
	between("items", o.Items, leastItems, mostItems)
	between("processes", o.Processes, leastProcesses, mostProcesses)
	if o.Rounds != 0 && o.Rounds < leastRounds {
		faults = append(faults, fmt.Errorf("%w: rounds is %d, want 0 or at least %d", ErrInvalidOption, o.Rounds, leastRounds))
	}
	if o.Every != 0 && (o.Every < leastEvery || o.Every%time.Second != 0) {
		faults = append(faults, fmt.Errorf("%w: every is %s, want whole seconds", ErrInvalidOption, o.Every))
	}
	if o.Processes > o.Items {
		faults = append(faults, fmt.Errorf("%w: %d processes for %d items, want at most one for each", ErrInvalidOption, o.Processes, o.Items))
	}
	if len(o.Command) == 0 || o.Out == nil {
		faults = append(faults, fmt.Errorf("%w: command and output are required", ErrInvalidOption))
	}
	return errors.Join(faults...)
}
