package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/operate"
)

// Names of headers and parameters.
const (
	HeaderKey     = "Idempotency-Key"
	HeaderLeftOut = "Elasticron-Left-Out" // of an answer: how many jobs an export lacks
	HeaderIfMatch = "If-Match"
	ParamDryRun   = "dry-run"
	ParamWait     = "wait"
	ParamAgain    = "again"
)

// MaxWait is how long a request may wait for a job to follow.
const MaxWait = 20 * time.Second

// Asked is what every operation may be told.
type Asked struct {
	Reason string        `json:"reason,omitempty"`
	Force  bool          `json:"force,omitempty"`
	Shown  *operate.Plan `json:"shown,omitempty"`
}

// AskedOfMany is what every operation on several jobs may be told.
type AskedOfMany struct {
	Reason string `json:"reason,omitempty"`
	Force  bool   `json:"force,omitempty"`
	// Shown are the plans that were shown, by job. If it is there, a job of which no plan was shown is refused if there is
	// anything to do to it.
	Shown Plans `json:"shown,omitzero"`
}

// MaxPlans is how many plans may have been shown.
const MaxPlans = 50_000

// Plans are plans by job.
type Plans map[string]*operate.Plan

// UnmarshalJSON reads at most [MaxPlans], and what is more not at all: even an empty plan takes much more memory than bytes.
func (p *Plans) UnmarshalJSON(text []byte) error {
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	switch begin, err := reader.Token(); {
	case err != nil:
		return err
	case begin == nil: // null
		*p = nil
		return nil
	case begin != json.Delim('{'):
		return errors.New("the plans that were shown are no object of plans by job")
	}
	plans := make(Plans)
	for reader.More() {
		job, err := reader.Token()
		if err != nil {
			return err
		}
		if len(plans) == MaxPlans {
			return fmt.Errorf("more than %d plans were shown", MaxPlans)
		}
		var plan *operate.Plan
		if err := reader.Decode(&plan); err != nil {
			return err
		}
		name, _ := job.(string) // as all names are
		plans[name] = plan
	}
	*p = plans
	return nil
}

// ImportRequest asks for jobs to be made as a file says.
type ImportRequest struct {
	AskedOfMany
	Text string `json:"text"` // of the file
}

// Trigger asks for a job to be run now.
type Trigger struct {
	Asked
	Items     []int     `json:"items,omitempty"`
	Parameter string    `json:"parameter,omitempty"`
	Fire      time.Time `json:"fire,omitzero"`
	Within    string    `json:"within,omitempty"`
	Replace   bool      `json:"replace,omitempty"`
}

// BackfillRequest asks for fires to be run.
type BackfillRequest struct {
	Asked
	Fires     []time.Time `json:"fires"`
	Items     []int       `json:"items,omitempty"`
	Parameter string      `json:"parameter,omitempty"`
	// MayHaveRun is what a dry run said of that, to which a person has agreed.
	MayHaveRun *operate.MayHaveRun `json:"may_have_run,omitempty"`
}

// Servers asks for something about servers.
type Servers struct {
	Asked
	Servers []string `json:"servers,omitempty"`
}

// RollBack asks for the settings before an operation.
type RollBack struct {
	Asked
	To string `json:"to"`
}

// NewConfig asks for other settings.
type NewConfig struct {
	Asked
	Text string `json:"text"`
	Base string `json:"base,omitempty"`
}

// NewJob asks for a new job.
type NewJob struct {
	Asked
	Job     string          `json:"job"`
	Text    string          `json:"text"`
	Servers map[string]bool `json:"servers,omitempty"` // whether they are disabled
	Items   []int           `json:"items,omitempty"`   // that are disabled
}

// Bulk asks for something about several jobs.
type Bulk struct {
	AskedOfMany
	Verb      string   `json:"verb"`
	Jobs      []string `json:"jobs,omitempty"`
	Match     string   `json:"match,omitempty"`
	Replace   bool     `json:"replace,omitempty"`
	Items     []int    `json:"items,omitempty"`
	Parameter string   `json:"parameter,omitempty"`
}
