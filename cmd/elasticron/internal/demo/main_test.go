package demo

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childMode has this test binary be a child of the demo instead: one that behaves in some way.
const childMode = "ELASTICRON_DEMO_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(child(mode))
	}
	goleak.VerifyTestMain(m)
}

// child reads lines and answers as its mode says.
func child(mode string) int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch mode {
		case "echo": // says hello with each line, until there are no more
			fmt.Printf("{\"kind\":\"hello\",\"instance\":%q}\n", in.Text())
		case "garbage":
			fmt.Println("not JSON")
			return 0
		case "half": // a line that is never finished
			fmt.Print(`{"kind":"hello","inst`)
			return 0
		case "fail":
			return 3
		}
	}
	return 0
}
