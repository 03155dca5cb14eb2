package scheduler

import "time"

// A fire that this process's clock ticked is run, or noted in its item for others to run, or it is
// dropped by one of the rules below. There is no other way for one to be forgotten: whatever code has
// fires to do with moves them by [due.after] when they have run, and else calls the rule that it means.
//
// What is no rule of these was never ticked: while nobody who may run items lives, while the job's
// configuration cannot be used, while the item is disabled, and while the job has fewer items. See
// [witness].

// dropUnwanted is the rule of a job with MisfireSkip: a fire that cannot begin on time does not run.
func (m misfires) dropUnwanted(missed []time.Time) []time.Time {
	if !m.on {
		return nil
	}
	return missed
}

// dropBeyond is the rule of the policy: one run, for the newest, stands for all missed fires
// (MisfireOnce), or of each that is to be run the newest MisfireMax are kept (MisfireAll).
func (m misfires) dropBeyond(missed []time.Time) []time.Time {
	return missed[max(0, len(missed)-m.keeps()):]
}

// keeps is how many missed fires the policy keeps.
func (m misfires) keeps() int {
	if m.all {
		return m.most
	}
	return 1
}

// dropOld is the rule of MisfireWindow: a missed fire that is older is not made up.
func (m misfires) dropOld(d due, now time.Time) due {
	for m.window > 0 && len(d.missed) > 0 && now.Sub(d.missed[0]) > m.window {
		d.missed = d.missed[1:]
	}
	return d
}

// dropDisabled is the rule of a disabled item: the fire that was about to begin when it was disabled is
// none. Those that it had missed before are made up when it is enabled again, by the job's policy.
func (d due) dropDisabled() due { return due{missed: d.missed} }

// dropOtherTimes is the rule of a change of what the job fires by, such as its cron or its zone, and of a
// job that was removed: what came before is forgotten, and notes that say so do not count.
func (r *runner) dropOtherTimes() {
	for _, it := range r.items {
		it.due = due{}
	}
	r.witness.forget()
}

// dropUnrecorded is the rule of a job that keeps no records, and of one with a fixed delay, for an item
// that moves: nobody could tell whether its new owner ran for the fire, or the record alone says what is
// due.
func (it *item) dropUnrecorded() { it.due = due{} }

// dropSurplus is the rule of a lowered total count: an item that is none any more runs for nothing.
func (it *item) dropSurplus() { it.due = due{} }

// dropAhead is the rule of a clock that was ahead and was set back: fires later than the one that comes now
// come again.
func (d due) dropAhead(now time.Time) due {
	for last := len(d.missed) - 1; last >= 0 && d.missed[last].After(now); last-- {
		d.missed = d.missed[:last]
	}
	return d
}

// dropImpossible drops a fire for which no execution can begin whatever happens, and which would keep
// others from it.
func (d due) dropImpossible(fire time.Time) due { return d.after(fire) }
