//go:build linux || darwin || freebsd

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// patience is how long a start waits for whoever uses its folder: a process that is about to end is given the time for it.
const patience = 3 * time.Second

// lockFolder locks a folder until the lock is closed. etcd has a lock of its own and would wait for it for ever, without
// a word. Where the file system knows no locks of folders, the lock is none.
func lockFolder(ctx context.Context, dir string) (io.Closer, error) {
	file, err := os.Open(dir) //nolint:gosec // the folder is the caller's
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return file, nil
		case ctx.Err() != nil || time.Now().After(deadline):
			return nil, errors.Join(fmt.Errorf("%w: %s", ErrInUse, dir), file.Close())
		}
	}
}
