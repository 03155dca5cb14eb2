//go:build unix

package javapeer

import "syscall"

const (
	stop = syscall.SIGSTOP
	goOn = syscall.SIGCONT
)
