package txnlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	headerSize = 16        // of a file: the magic word, the version, a number of the store
	prefixSize = 12        // of an entry: its checksum, its length
	endOfEntry = 'B'       // what follows an entry that was written to its end
	largest    = 100 << 20 // an entry beyond is none
)

// Reader reads a log from its beginning. It is not safe for concurrent use.
type Reader struct {
	folder string
	file   *os.File // nil before the first
	name   string   // of the file
	first  int64    // the transaction that its name says; 0 before the first
	offset int64
}

// Open reads the log in a folder, which need not have one yet. The folder is the one that ZooKeeper
// calls version-2.
func Open(folder string) *Reader { return &Reader{folder: folder} }

// Close closes the file that is being read.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Next returns the next transaction. It returns io.EOF when there is none yet; call it again later.
// Any other error says that the log cannot be read any further.
func (r *Reader) Next() (Txn, error) {
	entry, err := r.entry()
	for errors.Is(err, io.EOF) {
		newer, failed := r.newer()
		if failed != nil {
			return Txn{}, failed
		}
		if newer == "" {
			return Txn{}, io.EOF
		}
		// A server begins another file only when it writes no more to the one before: what is not there
		// by now never came to its end.
		if entry, err = r.entry(); !errors.Is(err, io.EOF) {
			break
		}
		if err := r.turn(newer); err != nil {
			return Txn{}, err
		}
		entry, err = r.entry()
	}
	if err != nil {
		return Txn{}, err
	}
	txn, err := parse(entry)
	if err != nil {
		return Txn{}, fmt.Errorf("transaction log %s: %w", filepath.Join(r.folder, r.name), err)
	}
	return txn, nil
}

// newer returns the file that follows the one that is being read; empty if there is none.
func (r *Reader) newer() (string, error) {
	entries, err := os.ReadDir(r.folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	next, least := "", int64(math.MaxInt64)
	for _, e := range entries {
		if first, ok := firstOf(e.Name()); ok && first > r.first && first < least {
			next, least = e.Name(), first
		}
	}
	return next, nil
}

// firstOf returns the transaction id in the name of a file of the log, which is that of its first.
func firstOf(name string) (int64, bool) {
	text, ok := strings.CutPrefix(name, "log.")
	first, err := strconv.ParseInt(text, 16, 64)
	return first, ok && err == nil
}

// turn goes on with another file.
func (r *Reader) turn(name string) error {
	file, err := os.Open(filepath.Join(r.folder, name))
	if err != nil {
		return err
	}
	err = r.Close()
	r.file, r.name, r.offset = file, name, headerSize
	r.first, _ = firstOf(name)
	return err
}

// entry reads the next entry of the file; io.EOF if none was written to its end. Servers extend a file
// with zeros before they write.
func (r *Reader) entry() ([]byte, error) {
	if r.file == nil {
		return nil, io.EOF
	}
	var prefix [prefixSize]byte
	if _, err := r.file.ReadAt(prefix[:], r.offset); err != nil {
		return nil, err
	}
	sum, size := binary.BigEndian.Uint64(prefix[:8]), binary.BigEndian.Uint32(prefix[8:])
	if size == 0 || size > largest {
		return nil, io.EOF
	}
	entry := make([]byte, size+1)
	if _, err := r.file.ReadAt(entry, r.offset+prefixSize); err != nil {
		return nil, err
	}
	if entry[size] != endOfEntry || uint64(adler32.Checksum(entry[:size])) != sum {
		return nil, io.EOF
	}
	r.offset += prefixSize + int64(len(entry))
	return entry[:size], nil
}
