package scheduler

import "github.com/elasticron/elasticron/scheduler/internal/membership"

// heedShutdown leaves the job if the node of this instance asks for it. That goes with the node: what is asked of
// a session that ends before this process sees it is gone.
func (r *runner) heedShutdown() {
	if r.departure.leaving || r.attached == nil || !r.state.Instance(r.s.instance).Shutdown {
		return
	}
	switch r.membership.Standing(r.look()) {
	case membership.Registered, membership.Former:
		r.shutDownHere()
	}
}

// shutDownHere stops the job here because an operator wants it, until the process starts anew, or leaves the job and adds it
// again. Other jobs of the process go on. What runs comes to its end, and is ticked for until then.
func (r *runner) shutDownHere() {
	r.log.WarnContext(r.life, "shut down by an operator: the job stops here until the process starts anew")
	r.departure.shut()
	r.decideAgain() // to leave
}

// atRest notes that a job that was shut down here has come to rest.
func (r *runner) atRest() {
	if r.departure.shutDown {
		r.s.timetable.Remove(r.entry)
	}
}
