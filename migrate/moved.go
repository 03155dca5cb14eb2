package migrate

// MoveReport says what was done with each job, or would be.
type MoveReport struct {
	// Applied is [Options.Apply]. If it is false, the steps are what would be done.
	Applied bool `json:"applied"`
	// Jobs are in the order of their names.
	Jobs []MovedJob `json:"jobs"`
}

// Complete tells whether every job is where it was to be brought.
func (r MoveReport) Complete() bool {
	for _, j := range r.Jobs {
		if !j.Done {
			return false
		}
	}
	return true
}

// MovedJob is the report on one job.
type MovedJob struct {
	Name   string `json:"name"`
	Format Format `json:"format,omitempty"` // of its tree in the source; empty if it is not known
	// State is how far the move is, after what was done.
	State MoveState `json:"state"`
	// Done tells whether the job is where it was to be brought or, of a plan, whether nothing is in the way.
	Done bool `json:"done"`
	// Reason says why it is not.
	Reason string `json:"reason,omitempty"`
	// Steps are what was done or, of a plan, what is left to do.
	Steps []string `json:"steps,omitempty"`
	// Notes are for the person who moves the job.
	Notes []string `json:"notes,omitempty"`
}
