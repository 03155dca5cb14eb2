package policy

import "time"

// A fire that this process's clock ticked is run, or noted in its item for others to run, or it is
// dropped by one of the rules below. No fire is forgotten in any other way: code that
// handles fires moves them by [Due.After] when they have run, and else calls the rule that it means.
//
// Fires that no rule covers were never ticked: while nobody who may run items lives, while the job's
// configuration cannot be used, while the item is disabled, and while the job has fewer items. See
// [Witness].

// dropUnwanted is the rule of a job with MisfireSkip: a fire that cannot begin on time does not run.
func (m Policy) dropUnwanted(missed []time.Time) []time.Time {
	if !m.On {
		return nil
	}
	return missed
}

// dropBeyond is the rule of the policy: one run, for the newest, stands for all missed fires
// (MisfireOnce), or of each that is to be run the newest MisfireMax are kept (MisfireAll).
func (m Policy) dropBeyond(missed []time.Time) []time.Time {
	return missed[max(0, len(missed)-m.Keeps()):]
}

// Keeps is how many missed fires the policy keeps.
func (m Policy) Keeps() int {
	if m.All {
		return m.Most
	}
	return 1
}

// Keep is both of these: what the policy keeps of missed fires.
func (m Policy) Keep(missed []time.Time) []time.Time { return m.dropBeyond(m.dropUnwanted(missed)) }

// dropOld is the rule of MisfireWindow: a missed fire of that age, or older, is not made up. So one that is made up has a
// moment left, see [Policy.Until].
func (m Policy) dropOld(d Due, now time.Time) Due {
	for m.Window > 0 && len(d.Missed) > 0 && now.Sub(d.Missed[0]) >= m.Window {
		d.Missed = d.Missed[1:]
	}
	return d
}

// DropDisabled is the rule of a disabled item: the fire that was about to begin when it was disabled is
// none. Those that it had missed before are made up when it is enabled again, by the job's policy.
func (d Due) DropDisabled() Due { return Due{Missed: d.Missed} }

// DropOtherTimes is the rule of a change of what the job fires by, such as its cron or its zone, and of a
// job that was removed: what came before is forgotten, and notes that say so do not count. Only what came just now and
// fires by the new times as well stays: they may have been in force already. stays may be nil: nothing does.
func (d Due) DropOtherTimes(stays func(fire time.Time) bool) Due {
	if stays == nil {
		return Due{}
	}
	return d.keep(stays)
}

// DropTheirs is the rule of an item that others had while this process was away, and of which they leave no record: nobody
// knows whether they ran for the fires of that time.
func (d Due) DropTheirs(theirs func(fire time.Time) bool) Due {
	return d.keep(func(fire time.Time) bool { return !theirs(fire) })
}

// keep returns what is due of the fires that stay.
func (d Due) keep(stays func(fire time.Time) bool) (left Due) {
	for _, fire := range d.Missed {
		if stays(fire) {
			left.Missed = append(left.Missed, fire)
		}
	}
	if !d.OnTime.IsZero() && stays(d.OnTime) {
		left.OnTime = d.OnTime
	}
	return left
}

// DropUnrecorded is the rule of a job that keeps no records, and of one with a fixed delay, for an item
// that moves: nobody could tell whether its new owner ran for the fire, or the record alone says what is
// due.
func (d Due) DropUnrecorded() Due { return Due{} }

// DropSurplus is the rule of a lowered total count: an item that is none any more runs for nothing.
func (d Due) DropSurplus() Due { return Due{} }

// DropAhead is the rule of a clock that was ahead and was set back: fires later than the one that comes now
// come again.
func (d Due) DropAhead(now time.Time) Due {
	for last := len(d.Missed) - 1; last >= 0 && d.Missed[last].After(now); last-- {
		d.Missed = d.Missed[:last]
	}
	return d
}

// DropImpossible drops a fire for which no execution can begin whatever happens, and which would keep
// others from it.
func (d Due) DropImpossible(fire time.Time) Due { return d.After(fire) }
