package jobtree

// Requeue returns the record of an item that did not run when its instance crashed and is to be run
// again all the same, as failover of scope "assigned" wants: it waits, with its last execution to be
// repeated. An item that never ran has nothing to repeat.
func (r Record) Requeue() (Record, error) {
	switch {
	case r.State == ItemRunning:
		return Record{}, r.refuse("requeue", ErrItemRunning)
	case r.State == ItemWaiting:
		return Record{}, r.refuse("requeue", ErrItemWaiting)
	case r.Current == nil:
		return Record{}, r.refuse("requeue", ErrNeverRan)
	}
	r.State = ItemWaiting
	return r, nil
}
