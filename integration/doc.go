// Package integration holds the tests over real servers and several processes. It has no code of its
// own: package history judges what happened, package simulation does the same in virtual time.
package integration
