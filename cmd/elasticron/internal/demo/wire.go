package demo

import (
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
)

// settings is the first line that a process reads: all that it needs to know.
type settings struct {
	Label     string        `json:"label"`
	Endpoints []string      `json:"endpoints"`
	Namespace string        `json:"namespace"`
	Dir       string        `json:"dir"`
	Items     int           `json:"items"`
	Every     time.Duration `json:"every"`
}

// reportKind says what a process reports.
type reportKind string

const (
	reportHello    reportKind = "hello"    // it exists, under an instance id
	reportStarted  reportKind = "started"  // a run began; without a sum
	reportResult   reportKind = "result"   // a run found its sum, and waits for the answer
	reportRecorded reportKind = "recorded" // the registry knows that a run ended
)

// report is every line that a process writes.
type report struct {
	Kind     reportKind   `json:"kind"`
	Instance string       `json:"instance"`
	Run      tally.Result `json:"run,omitzero"`
}

// answer is every further line that a process reads: whether a result was kept, or that it is to
// finish what it runs and end.
type answer struct {
	Stop    bool   `json:"stop,omitempty"`
	Item    int    `json:"item"`
	Token   int64  `json:"token"`
	Refused string `json:"refused,omitempty"` // why it was not
}
