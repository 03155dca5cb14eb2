package dump

import (
	"context"

	"github.com/elasticron/elasticron/scheduler"
)

// Shelf is fixed dumps, by their jobs.
type Shelf map[string]scheduler.Dump

func (s Shelf) dump(_ context.Context, job string) (scheduler.Dump, error) {
	d, known := s[job]
	if !known {
		return d, scheduler.ErrUnknownJob
	}
	return d, nil
}

func (s Shelf) jobs() []string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	return names
}

// ListenTo is Listen for fixed dumps.
func ListenTo(s Shelf, address string, opts ...Option) (*Server, error) {
	return listen(s, address, opts)
}
