package live

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Picture is what a hub knows at a time. It never changes.
type Picture struct {
	Revision  registry.Revision
	AsOf      time.Time // all of it was true then
	Connected bool      // the registry answers; else AsOf is all that is certain
	// Namespace answers what the rows do not, without I/O.
	Namespace *operate.Namespace
	// Rows are the jobs in the order of their names.
	Rows []*Row
	// State is the tree that all of it was made of, or a newer one with the same jobs.
	State registry.Snapshot
	// Newer is closed when there is another picture.
	Newer <-chan struct{}

	newer chan struct{}
}

// Row is a job as lists show it. It is to be read only.
type Row struct {
	operate.JobRow
	JSON json.RawMessage // of [ListedJob]
	// Outside is what of the job was changed from outside.
	Outside []operate.OutsideChange

	changed uint64 // the number of the change that made it
	live    *jobLive
	need    *Need // why the job needs a person; nil: it does not
	shown   string
}

// Row returns the row of a job, and false if there is no such job.
func (p *Picture) Row(job string) (*Row, bool) {
	i, found := search(p.Rows, job)
	if !found {
		return nil, false
	}
	return p.Rows[i], true
}

func search(rows []*Row, job string) (int, bool) {
	return slices.BinarySearchFunc(rows, job, func(r *Row, name string) int { return strings.Compare(r.Job, name) })
}
