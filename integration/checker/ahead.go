package checker

import "github.com/elasticron/elasticron/job"

// An execution may begin a moment before its fire comes. What comes about in that moment counts: code is not called of an item
// that must not run any more.

// judgeAhead judges whether the code of an execution that had begun ahead of its fire was to be called.
func (j *judge) judgeAhead(e *execution, r *Run) {
	called, comes := r.Began, due(e.settings, e.fire())
	if called.After(comes) {
		called = comes // its begin was confirmed late
	}
	told := called.Add(-j.jitter() - j.rules.Skew) // what was so then, the process had heard of
	if e.source() == job.Manual || !e.began.Before(comes) || !e.began.Before(told) {
		return
	}
	hindered := j.trouble(r.Instance, true, j.rules.Settle, Cut, Paused, Slow, Unwatched, Down, Lost, Expired, Denied, Held, Misset)
	if hindered.touches(e.began, r.Began) {
		return
	}
	never := func(c *course[bool]) bool { // neither then nor since
		return c != nil && !c.at(told) && !c.at(r.Began)
	}
	settings := j.courses.settings.at(told)
	disabled := settings != nil && settings.Disabled && j.courses.settings.at(r.Began) == settings
	if never(j.courses.runnable[e.item]) || disabled {
		j.find(Intent, r.Began, e.item, "code was called of an item that had been disabled before its fire came", e, r)
	}
}
