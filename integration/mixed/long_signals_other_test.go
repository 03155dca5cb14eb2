//go:build !unix

package mixed

import "syscall"

// There are no such signals here, and sending them is an error.
const (
	sigStop = syscall.Signal(-1)
	sigCont = syscall.Signal(-1)
	sigTerm = syscall.SIGTERM
)
