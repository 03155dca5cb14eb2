package job

import (
	"cmp"
	"slices"
)

// Type says what kind of code a job runs. The zero Type is [TypeSimple]. Its words are stored, and shared
// with Java peers.
type Type string

// The types of jobs.
const (
	TypeSimple   Type = ""         // SIMPLE: one call for each item of a fire
	TypeDataflow Type = "DATAFLOW" // fetch, then process, once or until nothing is left
	TypeScript   Type = "SCRIPT"   // a command line
)

// Types returns every type, in the order in which they should be offered.
func Types() []Type { return []Type{TypeSimple, TypeDataflow, TypeScript} }

// String returns the word of the type, also for the zero one.
func (t Type) String() string { return cmp.Or(string(t), "SIMPLE") }

// Known tells whether t is one of [Types], or the word of one.
func (t Type) Known() bool {
	return slices.ContainsFunc(Types(), func(known Type) bool { return known.String() == t.String() })
}
