//go:build !unix

package javapeer

import "syscall"

// There are no such signals here, and sending them is an error.
const (
	stop = syscall.Signal(-1)
	goOn = syscall.Signal(-1)
)
