package history

import (
	"context"
	"errors"
	"time"
)

// ErrNoOutput is the error of [OutputReader.Output] if no output of the execution is kept.
var ErrNoOutput = errors.New("no output is kept")

// MaxOutputs is how many outputs a list has at most.
const MaxOutputs = 100

// MaxOutput is how many bytes of an output are kept at most.
const MaxOutput = 5 << 20

// Output is what an execution wrote, or what is kept of it. Scripts and HTTP jobs of workers have outputs; the code of
// other jobs has none.
type Output struct {
	ID    string // of the [Execution]
	Job   string
	Item  int
	Token int64 // fencing token; 0 for unmonitored jobs
	Start time.Time
	Bytes int64  // that were written, of which the text may lack some in the middle
	Text  string // valid UTF-8; empty in a list
}

// OutputQuery says which outputs a list has. An empty field but Job matches all of them.
type OutputQuery struct {
	Job   string // required
	Item  *int
	Token int64
	Limit int // 1 to MaxOutputs; 0 = 1
}

// OutputReader reads the outputs that a store has kept. A [Reader] may be one. Its methods are safe for concurrent use.
type OutputReader interface {
	// Outputs returns the newest outputs that match, the newest first, without their texts. Errors: [ErrInvalidQuery],
	// and those of the store.
	Outputs(context.Context, OutputQuery) ([]Output, error)
	// Output returns what is kept of the output of an execution of a job, or [ErrNoOutput].
	Output(ctx context.Context, job, id string) (Output, error)
}

// OutputFinder tells of which executions an output is kept. An [OutputReader] may be one. Its methods are safe for concurrent
// use.
type OutputFinder interface {
	// OutputsOf returns, by the ids of executions, how many bytes each of them wrote, if its output is kept. Errors are those
	// of the store.
	OutputsOf(ctx context.Context, ids []string) (map[string]int64, error)
}
