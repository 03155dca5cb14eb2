// Package cache is where tests keep what takes long to get: the jars of package maven, and the program
// of package etcdserver. It is the user's cache folder; processes take turns there by a lock.
package cache

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Folder returns a folder of the cache, and makes it if need be.
func Folder(name ...string) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		user = os.TempDir() // no home folder
	}
	folder := filepath.Join(append([]string{user, "elasticron"}, name...)...)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("make a folder of the cache: %w", err)
	}
	return folder, nil
}

// Lock waits until no other process has a file locked, which it creates if need be, and locks it until
// unlock is called or this process ends.
func Lock(file string) (unlock func(), err error) {
	lock, err := fileutil.LockFile(file, os.O_RDWR|os.O_CREATE, fileutil.PrivateFileMode)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", file, err)
	}
	return func() { _ = lock.Close() }, nil
}
