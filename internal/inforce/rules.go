package inforce

import "time"

const (
	// LateAfter is how late a scheduled fire may begin and still count as on time. Beyond, it is a
	// missed fire and follows the misfire policy.
	LateAfter = 5 * time.Second
	// ClockTolerance is by how much clocks may differ before a fire is taken for that of a broken
	// one. A scheduled fire is executed at most once as long as clocks differ by less. So long after its end a request by hand
	// may still be answered.
	ClockTolerance = 30 * time.Second
)
