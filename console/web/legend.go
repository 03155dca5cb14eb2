package web

// sign is a shape of the timeline and what it means. The shapes are those that src/lanes.ts draws.
type sign struct {
	Class, Shape string // of the execution
	Sign, Mark   string // what stands on it, if anything does
	Text, Says   string
}

const solid = "M6 3H20q3 0 3 3V12q0 3 -3 3H6q-3 0 -3 -3V6q0 -3 3 -3z"

var legend = []sign{
	{Class: "success", Shape: solid, Text: "ok", Says: "It ran and returned no error."},
	{Class: "failure", Shape: "M3 1H23V17H3z", Sign: "sign", Mark: "M10 6l6 6m0 -6l-6 6", Text: "failed", Says: "It returned an error or panicked."},
	{Class: "running", Shape: "M3 3H17L23 9L17 15H3z", Text: "running", Says: "It has not ended; the arrow goes on."},
	{Class: "interrupted", Shape: "M3 6H23V12H3z", Text: "interrupted", Says: "It was cancelled by a stop or a lost session."},
	{Class: "lost", Shape: "M3 3H22l-3 3l3 3l-3 3l3 3H3z", Text: "lost", Says: "Its process died."},
	{Class: "success", Shape: solid, Sign: "rerun", Mark: "M-1 9l6 -6l6 6l-6 6z", Text: "failover", Says: "It runs again what was lost elsewhere."},
	{Class: "none", Shape: "M0 0", Sign: "late", Mark: "M7 4h12l-6 10z", Text: "misfire", Says: "Fires were missed; a number says how many, if more than one."},
}
