package tally

import (
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/job"
)

// Result is what one execution of an item found, and under which name.
type Result struct {
	Item     int           `json:"item"`
	Total    int           `json:"total"` // sharding total count that the run was given
	Fire     time.Time     `json:"fire"`
	Source   job.Source    `json:"source"`
	Token    int64         `json:"token"`
	Instance string        `json:"instance"`
	Sum      fileindex.Sum `json:"sum"`
}
