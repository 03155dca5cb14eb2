package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/demo"
)

// Exit statuses. Scripts rely on them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitMisuse      = 2   // the command line is wrong, and nothing was done
	exitRefused     = 3   // an operation is not possible as things are, or a right is missing, as also with a wrong password of the store, and nothing was done
	exitSome        = 4   // done for some, failed for others
	exitWaited      = 5   // the time to wait was over; what was asked for may still happen
	exitInterrupted = 130 // as shells have it for programs that a Ctrl-C ended
)

// statusError is an error with an exit status of its own.
type statusError struct {
	status int
	err    error
}

func (e statusError) Error() string { return e.err.Error() }
func (e statusError) Unwrap() error { return e.err }

// usageError is a command line that is wrong.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// misuse says what is wrong with a command line.
func misuse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// statusOf returns the exit status for what a command returned.
func statusOf(err error) int {
	var status statusError
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, demo.ErrInterrupted) && !errors.Is(err, demo.ErrInexact):
		return exitInterrupted
	case errors.As(err, &status):
		return status.status
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command "): // for which cobra has no type
		return exitMisuse
	default:
		return exitFailed
	}
}

// countAsMisuse has wrong arguments of a command and of those below it end with the status for that.
func countAsMisuse(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usageError{err}
			}
			if slices.Contains(args, "") { // most often a variable of a script that is not set; a list without a name is everything
				return misuse("%s: an argument is empty", c.CommandPath())
			}
			return nil
		}
	}
	for _, below := range c.Commands() {
		countAsMisuse(below)
	}
}

// parent makes a command that does nothing without one of those below it.
func parent(c *cobra.Command, below ...*cobra.Command) *cobra.Command {
	c.AddCommand(below...)
	needsOneOf(c, below)
	return c
}

// needsOneOf has a command that does nothing by itself say so.
func needsOneOf(c *cobra.Command, below []*cobra.Command) {
	c.FParseErrWhitelist.UnknownFlags = true // they are of a command below: what is to be told is that there is no such command
	var names []string
	for _, b := range below {
		names = append(names, b.Name())
	}
	c.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return misuse("%s: %q is unknown, want one of: %s", c.CommandPath(), args[0], strings.Join(names, ", "))
		}
		return misuse("%s needs one of: %s", c.CommandPath(), strings.Join(names, ", "))
	}
}
