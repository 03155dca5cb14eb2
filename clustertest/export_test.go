package clustertest

import "testing"

// Report has the cluster report to somebody else, until restore is called.
func (c *Cluster) Report(tb testing.TB) (restore func()) {
	inner, outer := c.tb, c.outer
	c.tb, c.outer = tb, tb
	return func() { c.tb, c.outer = inner, outer }
}

// Address is where an instance is that is started so manieth.
var Address = address
