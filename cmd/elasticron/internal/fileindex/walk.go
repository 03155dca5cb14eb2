package fileindex

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // has instructions of its own on most machines

// walk reads every regular file of the tree that keep asks for, and hands on what it found.
func walk(ctx context.Context, tree fs.FS, keep func(path string) bool, found func(path string, one Sum)) error {
	buffer := make([]byte, 64<<10)
	return fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && path != "." && errors.Is(err, fs.ErrNotExist):
			return nil // it went away since its folder was read
		case err != nil:
			return err
		case !entry.Type().IsRegular() || !keep(path):
			return nil
		}
		one, err := read(tree, path, buffer)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		found(path, one)
		return nil
	})
}

// read makes the sum of a single file.
func read(tree fs.FS, path string, buffer []byte) (Sum, error) {
	file, err := tree.Open(path)
	if err != nil {
		return Sum{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	one := Sum{Files: 1}
	check := uint32(0)
	for {
		n, err := file.Read(buffer)
		one.Bytes += int64(n)
		one.Lines += int64(bytes.Count(buffer[:n], []byte{'\n'}))
		check = crc32.Update(check, castagnoli, buffer[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Sum{}, err
		}
	}
	one.Digest = mix(mix(pathHash(path)) + uint64(check)<<32 + uint64(one.Bytes))
	return one, nil
}
