//go:build unix

package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
)

// coreBytes is the limit of a core dump that no kernel writes: it is less than a page. With a limit of 0, Linux would still
// hand the core to a program that /proc/sys/kernel/core_pattern names, and that one may keep the environment.
const coreBytes = 1

// crashBySignal has the program end by SIGABRT when it panics, or is sent SIGABRT as by systemd's watchdog. By itself Go
// ends it with the status 2, which says that the command line is wrong and that nothing was done: whoever starts it anew
// after a failure would not. A core would hold what is secret, so none is written unless GOTRACEBACK=crash asks for one.
// Programs that this one starts inherit the limit, and may raise it.
func crashBySignal() {
	if os.Getenv("GOTRACEBACK") == "crash" {
		return // Go does it already
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err != nil {
		return
	}
	switch {
	case limit.Cur == coreBytes:
	case limit.Max < coreBytes: // it is 0 and stays so
		if coresArePiped() {
			return // better the wrong status than a core
		}
	default:
		limit.Cur = coreBytes // which may be more than it was: 0 is what most have
		if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &limit); err != nil {
			return
		}
	}
	debug.SetTraceback("crash")
}

// coresArePiped tells whether cores go to a program, or may.
func coresArePiped() bool {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil {
		return runtime.GOOS == "linux"
	}
	return strings.HasPrefix(string(pattern), "|")
}
