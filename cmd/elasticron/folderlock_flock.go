//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// How long another process may hold a lock, which it needs for one change of a small file, and how often it is looked for.
const (
	lockTime  = 10 * time.Second
	lockPause = 10 * time.Millisecond
)

// lockFolder locks a folder until it is unlocked or the process ends, so that nothing is left behind. Where the file system
// knows no such locks, it does nothing.
func lockFolder(name string) (unlock func(), err error) {
	folder, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = folder.Close() }
	for began := time.Now(); ; time.Sleep(lockPause) {
		err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return unlock, nil
		case time.Since(began) > lockTime:
			unlock()
			return nil, fmt.Errorf("another process has held the lock of %s for %s", name, lockTime)
		}
	}
}
