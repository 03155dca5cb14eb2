package main

import "testing"

// TestDistIsWhatSrcSays builds again and compares.
func TestDistIsWhatSrcSays(t *testing.T) {
	t.Parallel()
	if err := run("../src", "../dist", true); err != nil {
		t.Error(err)
	}
}
