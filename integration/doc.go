// Package integration holds the tests over real servers and several processes. It has no code of its
// own: package checker judges what happened, and package simulation runs such faults in virtual time.
package integration
