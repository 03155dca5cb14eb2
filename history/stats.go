package history

// Stats counts the events of one sink since the bus was made. Posted is the sum of Delivered, Dropped,
// Rejected, Lost and Waiting.
type Stats struct {
	Sink      string
	Posted    uint64
	Delivered uint64
	Dropped   uint64 // the buffer was full, or the bus closed
	Rejected  uint64 // the sink will never take them
	Lost      uint64 // not delivered before Close had to return
	Waiting   uint64 // in the buffer, or on their way
	Room      uint64 // how many more the buffer takes now; 0 after Close
	Failures  uint64 // calls of Write that took nothing
	Err       error  // of the newest call of Write; nil if it took the events
}
