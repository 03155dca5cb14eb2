//go:build linux

package cgroup

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// canStart tells whether processes can be started in a group, whatever group: that is up to Linux and to what forbids this
// process system calls. ask asks for a process in a group that cannot be, and returns how that is refused.
func canStart(ask func() error) error {
	err := ask()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EBADF) { // it is the group that is wrong
		return nil
	}
	return fmt.Errorf("%w: no process can be started in one; it takes Linux 5.7, and a filter of system calls that allows clone3: %w", ErrUnavailable, err)
}

// askForNone asks for a process in a group whose descriptor is none. Linux looks at the number before it does anything, and
// before 5.7 refuses what it does not know.
func askForNone() error {
	args := struct {
		flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
	}{flags: unix.CLONE_INTO_CGROUP, exitSignal: uint64(syscall.SIGCHLD), cgroup: 1 << 63}
	pid, _, errno := syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 { // nothing may happen in a second process
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return errors.ErrUnsupported
}
