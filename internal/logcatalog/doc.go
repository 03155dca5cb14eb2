// Package logcatalog holds docs/logs.md complete. It has tests only: one reads every line that a package of
// this module logs out of the source, and compares the messages with those of the catalogue, both ways.
package logcatalog
