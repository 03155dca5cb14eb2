package fileindex

import "fmt"

// Sum is what is known of a set of files. The zero Sum is that of no file.
type Sum struct {
	Files int   `json:"files"`
	Lines int64 `json:"lines"` // line feeds
	Bytes int64 `json:"bytes"`
	// Digest adds up a number for each file that is made of its path and contents. A file that is
	// missing, counted twice or different changes it; the order of files does not.
	Digest uint64 `json:"digest"`
}

// Plus returns the sum of both sets. A file that is in both counts twice.
func (s Sum) Plus(other Sum) Sum {
	return Sum{
		Files:  s.Files + other.Files,
		Lines:  s.Lines + other.Lines,
		Bytes:  s.Bytes + other.Bytes,
		Digest: s.Digest + other.Digest,
	}
}

// String reads "12 files, 345 lines, 6789 bytes, digest 0123456789abcdef".
func (s Sum) String() string {
	return fmt.Sprintf("%d files, %d lines, %d bytes, digest %016x", s.Files, s.Lines, s.Bytes, s.Digest)
}
