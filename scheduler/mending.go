package scheduler

// mend puts right what no live session answers for.
func (r *runner) mend() { r.commit(r.mending.Decide(r.look())) }

// clearOrphans ends executions that are marked as running under the present session and that nobody runs.
func (r *runner) clearOrphans() {
	v := r.look()
	r.commit(r.mending.Orphans(v, func(n int) bool { return r.rounds.Idle(v, n) }))
}
