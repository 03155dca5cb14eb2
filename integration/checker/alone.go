package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/elasticron/elasticron/job"
)

// JudgeRuns returns every violation that the runs of a history show by themselves: code of an item that runs in two
// places at once, code that is called twice for one execution, a fire that is executed twice, tokens that do not
// grow, and a rerun of what had come to its end. It does not look at States, Reports and Hooks.
//
// It is for clusters that instances share for which nothing is promised, such as Java instances: what those do to
// the registry, [Judge] would find fault with. Runs are those of the instances for which something is promised.
func JudgeRuns(h History, rules Rules) []Finding {
	h.States, h.Reports, h.Hooks = nil, nil, nil
	h.Runs = slices.Clone(h.Runs)
	slices.SortStableFunc(h.Runs, func(a, b Run) int { return a.Began.Compare(b.Began) })
	j := newJudge(h, rules)
	byItem := make(map[int][]*Run)
	for i := range j.Runs {
		r := &j.Runs[i]
		byItem[r.Context.Item] = append(byItem[r.Context.Item], r)
	}
	for n, runs := range byItem {
		j.judgeOverlaps(n, runs)
		j.judgeTokensAlone(n, runs)
		j.judgeFiresAlone(n, runs)
	}
	slices.SortStableFunc(j.findings, func(a, b Finding) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Guarantee, b.Guarantee))
	})
	return j.findings
}

// judgeTokensAlone judges whether each run has a token of its own, larger than those before. Code that was called
// while its process could not know that its session was over comes with an old one.
func (j *judge) judgeTokensAlone(n int, runs []*Run) {
	byToken := make(map[int64]*Run)
	var last *Run
	for _, r := range runs {
		if first := byToken[r.Context.Token]; first != nil {
			j.find(OneExecution, r.Began, n, "code was called twice for one execution", first, r)
			continue
		}
		byToken[r.Context.Token] = r
		if j.unaware(r.Instance).covers(r.Began) {
			continue
		}
		if last != nil && r.Context.Token < last.Context.Token {
			j.find(GrowingToken, r.Began, n, "code with an old token was called after code with a newer one", last, r)
			continue
		}
		last = r
	}
}

// judgeFiresAlone judges whether each fire was begun once, and run again only if it had not come to its end.
func (j *judge) judgeFiresAlone(n int, runs []*Run) {
	begun, finished := make(map[time.Time]*Run), make(map[time.Time]*Run)
	for _, r := range runs {
		fire := r.Context.Fire
		if r.Context.Source == job.Manual || fire.IsZero() {
			continue
		}
		if r.Context.Source == job.Scheduled || r.Context.Source == job.Misfire {
			if first := begun[fire]; first != nil {
				j.find(OneExecution, r.Began, n, "a fire was executed twice", first, r)
			}
			begun[fire] = r
		} else if first := finished[fire]; first != nil {
			j.find(NothingForgotten, r.Began, n, "an execution was run again that had come to its end", first, r)
		}
		if j.finishedWell(r) {
			finished[fire] = r
		}
	}
}

// finishedWell tells whether code returned on its own, in a process that could say so.
func (j *judge) finishedWell(r *Run) bool {
	if r.Died || r.Ended.IsZero() || !r.Cancelled.IsZero() {
		return false
	}
	told := r.Ended.Add(j.rules.Settle)
	return !j.trouble(r.Instance, true, j.rules.TTL, Cut, Paused, Slow, Down, Expired, Lost, Denied, Held, Stopped, Crashed).touches(r.Began, told)
}
