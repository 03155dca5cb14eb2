package prometheus

// other is the label of jobs and items beyond the bounds.
const other = "other"

// places are the labels of jobs. A job keeps its label until it is left, since what is added up under a label is taken
// back under the same one.
type places struct {
	bound int // of labels of their own
	own   int // of those, how many are taken
	jobs  map[string]place
}

type place struct {
	own   bool // else it shares the label other
	heard bool // an event named the job, so another one will say that it was left
}

func newPlaces(bound int) places { return places{bound: bound, jobs: make(map[string]place)} }

// heard returns the label of a job that an event names; of no job it is empty.
func (p *places) heard(name string) string { return p.of(name, true) }

// reported returns the label of a job that a report names.
func (p *places) reported(name string) string { return p.of(name, false) }

func (p *places) of(name string, heard bool) string {
	if name == "" {
		return ""
	}
	at, known := p.jobs[name]
	if !known && p.own < p.bound {
		at.own = true
		p.own++
	}
	if !known || heard && !at.heard {
		at.heard = at.heard || heard
		p.jobs[name] = at
	}
	return p.known(name)
}

// known returns the label of a job without giving it a place.
func (p *places) known(name string) string {
	if name == "" || p.jobs[name].own {
		return name
	}
	return other
}

// leave frees the place of a job, and tells whether its label was of nobody else.
func (p *places) leave(name string) bool {
	own := p.jobs[name].own
	delete(p.jobs, name)
	if own {
		p.own--
	}
	return own && name != other // a job may be called so
}

// keep frees the places of jobs that only reports have named, and the last one does not: a report may have been made
// before its job was left, and no event follows.
func (p *places) keep(reported map[string]bool) {
	for name, at := range p.jobs {
		if !at.heard && !reported[name] {
			p.leave(name)
		}
	}
}
