package jobtree

// ItemState is what is to be done about a sharding item, as its record says. There is no state in
// between: whoever claims a waiting item begins it in the same transaction.
type ItemState string

// The states of an item. An item without a record is idle.
const (
	// ItemIdle: nothing runs, nothing is owed.
	ItemIdle ItemState = "idle"
	// ItemRunning: an execution began and its end is not recorded. Whether it still goes on, the item's
	// running node tells.
	ItemRunning ItemState = "running"
	// ItemWaiting: an execution was lost or interrupted and must be run again.
	ItemWaiting ItemState = "waiting"
	// ItemInterrupted: an execution was lost or interrupted and is not run again. It is idle with a
	// regret: the next fire runs.
	ItemInterrupted ItemState = "interrupted"
)
