// Package linkcheck checks which packages an application links, and which way the imports of this module point. It
// has tests only.
//
// A library's dependencies become those of everyone who uses it: their binaries grow, their scanners
// report its vulnerabilities, their versions must agree with its. An application of ours imports
// package scheduler and one backend, so the tests list what those link and refuse what an application
// does not run: servers, test libraries, command lines, exporters. An upper bound on the number of
// packages makes every new one a decision.
//
// The map of the rooms, from the ground up, stands in arrows_test.go: what each room imports, no more and no less,
// and no arrow upward. The linter's depguard rules say the same to an editor, and hold the rules on tests.
//
// It looks at a build for linux/amd64, whatever machine the test runs on.
package linkcheck
