// Package jobfile makes jobs as a file of package seed says, each change an operation of package operate: the command
// line and the console apply files by it.
package jobfile
