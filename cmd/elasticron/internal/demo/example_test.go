package demo_test

import (
	"fmt"
	"os"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/demo"
)

// A program that shows the demo starts itself again for each process, with arguments by which it
// knows to call Work.
func ExampleOptions_Check() {
	opts := demo.Defaults()
	opts.Command, opts.Out = []string{os.Args[0], "demo-worker"}, os.Stdout
	fmt.Println(opts.Check())
	opts.Processes = 1
	fmt.Println(opts.Check())
	// Output:
	// <nil>
	// invalid option: processes is 1, want 2 to 32
}
