//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// asBefore gives a file that replaces another one its owner, where this process may do that, and its mode. Where the group is
// another one than before, it gets nothing that only the former one had.
func asBefore(file *os.File, before fs.FileInfo) error {
	mode := before.Mode().Perm()
	if owner, is := before.Sys().(*syscall.Stat_t); is {
		if err := file.Chown(int(owner.Uid), int(owner.Gid)); err != nil && file.Chown(-1, int(owner.Gid)) != nil {
			mode &= 0o707 | mode&0o007<<3
		}
	}
	return file.Chmod(mode)
}
