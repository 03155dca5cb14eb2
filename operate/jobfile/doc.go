// Package jobfile makes jobs as a file of package seed says, each change an operation of package operate: the command
// line and the console apply files by it, once. A folder of files that a worker keeps applied is worker/internal/jobfolder.
package jobfile
