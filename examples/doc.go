// Package examples holds programs, one folder for each task. Every one runs as it is, takes a few
// seconds, needs nothing that is not here, and ends with exit code 0. The test builds and runs all of
// them; a new folder is found by itself.
package examples
