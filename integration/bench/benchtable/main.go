// Benchtable reads what go test -bench prints and writes it as a table that people can read: one
// benchmark after the other, as they come, each figure with its unit.
//
//	go test -run '^$' -bench . ./... | go run ./integration/bench/benchtable
//
// What is no benchmark's result and no formality, such as a failure, is written as it stands. For
// comparisons keep the input, which benchstat reads.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := format(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}
