package jobtree

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// TakenOver returns the record of an item whose lost execution a Java instance runs again. Java records
// nothing, so what becomes of that is not known here: the item is interrupted, and its next fire runs.
// token is the lost execution's, if it was not declared lost before.
func (r Record) TakenOver(token int64, now time.Time) (Record, error) {
	switch {
	case r.State == ItemWaiting:
		r.State = ItemInterrupted
		return r, nil
	case !r.running():
		return Record{}, r.refuse("leave to Java", ErrItemNotWaiting)
	case token <= 0:
		return Record{}, r.refuse("leave to Java", fmt.Errorf("%w: token %d", registry.ErrInvalid, token))
	}
	next := r.stop(token, now, Lost, "")
	next.Counts.Lost++
	next.State = ItemInterrupted
	return next, nil
}
