package sharding

// Strategy assigns the items of a job to its instances.
//
// Assign must be a pure function of the request: no clock, no randomness, no I/O. The leader runs it
// again after every change, and another instance may be the leader by then. If there is an instance,
// it must give each item 0..Total-1 to one; how evenly is its own affair. It may be called
// concurrently, for different jobs or different members of one.
//
// Call a strategy through [Run], which prepares the request and checks the answer.
type Strategy interface {
	Assign(Request) (Assignment, error)
}

// StrategyFunc makes a function a [Strategy].
type StrategyFunc func(Request) (Assignment, error)

// Assign calls f.
func (f StrategyFunc) Assign(r Request) (Assignment, error) { return f(r) }
