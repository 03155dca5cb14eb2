package seed

import (
	"errors"
	"fmt"
)

// How many faults are told, and about how many bytes they have: a file may have as many as it has lines, each with a long name.
const (
	maxFaults = 100
	maxTold   = 64 << 10
)

// faults gathers what is wrong with a file.
type faults struct {
	all    []error
	told   int // how many bytes they have
	untold int // how many there are besides
}

func (f *faults) tell(err error) {
	if len(f.all) >= maxFaults || f.told >= maxTold {
		f.untold++
		return
	}
	f.told += len(err.Error())
	f.all = append(f.all, err)
}

// joined is one error of all; nil if nothing is wrong.
func (f *faults) joined() error {
	if f.untold > 0 {
		return errors.Join(append(f.all, fmt.Errorf("%w: there are %d more faults", ErrInvalid, f.untold))...)
	}
	return errors.Join(f.all...)
}
