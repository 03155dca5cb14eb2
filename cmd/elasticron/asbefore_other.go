//go:build !unix

package main

import (
	"io/fs"
	"os"
)

func asBefore(file *os.File, before fs.FileInfo) error { return file.Chmod(before.Mode().Perm()) }
