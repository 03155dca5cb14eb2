package job

import "slices"

// Type says what kind of code a job runs. The words are stored, and shared with Java peers.
type Type string

// The types of jobs.
const (
	TypeSimple   Type = "SIMPLE"   // one call for each item of a fire
	TypeDataflow Type = "DATAFLOW" // fetch, then process, once or until nothing is left
	TypeScript   Type = "SCRIPT"   // a command line
)

// Types returns every type, in the order in which they should be offered.
func Types() []Type { return []Type{TypeSimple, TypeDataflow, TypeScript} }

// Known tells whether t is one of [Types].
func (t Type) Known() bool { return slices.Contains(Types(), t) }
