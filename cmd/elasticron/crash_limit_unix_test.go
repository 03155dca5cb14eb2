//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// tellCoreLimit tells how large a core this process may write.
func tellCoreLimit() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err == nil {
		fmt.Fprintln(os.Stderr, "core limit", limit.Cur)
	}
}
