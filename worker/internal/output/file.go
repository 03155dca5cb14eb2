package output

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Files says how much of an output is kept in files.
type Files struct {
	Directory string // empty: none
	Size      int64  // of one file
	Older     int    // that are kept beside the newest
}

// Open opens the file of an item for more output: <job>/<item>.log below the directory. A full one becomes
// <item>.log.1, that one <item>.log.2, and so on; the last one goes. Close it.
func (f Files) Open(job string, item int) (*File, error) {
	root, err := os.OpenRoot(f.Directory)
	if err != nil {
		return nil, err
	}
	if err := root.Mkdir(job, 0o750); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, errors.Join(err, root.Close())
	}
	file := &File{files: f, root: root, name: job + "/" + strconv.Itoa(item) + ".log"}
	if err := file.open(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return file, nil
}

// File takes the output of one run after another. It is for one goroutine at a time.
type File struct {
	files Files
	root  *os.Root
	name  string
	file  *os.File
	size  int64
	err   error // why nothing is written any more
}

// errNoFile is the error of a log that is something else, such as a pipe, for whose reader every write would wait.
var errNoFile = errors.New("it is no regular file")

func (f *File) open() error {
	// A pipe would hold up whoever opens it until it has a reader.
	file, err := f.root.OpenFile(f.name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o640)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", f.name, errNoFile)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write takes all of p. After a failure, as of a full disk, it takes no more and keeps the error for [File.Close]: the
// script goes on.
func (f *File) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 && f.err == nil {
		room := f.files.Size - f.size
		if room <= 0 {
			f.err = f.rotate()
			continue
		}
		part := p[:min(room, int64(len(p)))]
		n, err := f.file.Write(part)
		f.size, f.err = f.size+int64(n), err
		p = p[len(part):]
	}
	return written, nil
}

func (f *File) rotate() error {
	if err := f.file.Close(); err != nil {
		return err
	}
	f.file = nil
	if f.files.Older == 0 {
		if err := f.root.Remove(f.name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return f.open()
	}
	for n := f.files.Older; n > 0; n-- {
		from := f.name
		if n > 1 {
			from = fmt.Sprintf("%s.%d", f.name, n-1)
		}
		if err := f.root.Rename(from, fmt.Sprintf("%s.%d", f.name, n)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return f.open()
}

// Close closes the file. The error tells also why some of the output is not in it.
func (f *File) Close() error {
	var closed error
	if f.file != nil {
		closed = f.file.Close()
	}
	return errors.Join(f.err, closed, f.root.Close())
}
