package live

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/operate"
)

// The limits of an overview.
const (
	mostNeeds    = 50
	mostLeaders  = 50
	mostOutside  = 50
	failingAfter = 2 // failures in a row
	// leaderlessFor is how long nobody leads a job before it needs a person. An election takes a part of a second, or seconds
	// where the registry is slow, and needs nobody.
	leaderlessFor = 10 * time.Second
)

// urgent are the reasons for which a job needs a person, the most urgent first. An item that waits to be run again
// needs nobody unless that lasts, and then it is overdue, too.
var urgent = []string{
	string(operate.Paused), string(operate.Unreadable), string(operate.NoInstance), string(operate.NoLeader), string(operate.Overdue),
	WordFailing, string(operate.GaveUp),
}

// inScope tells whether a job belongs to a scope as access.Identity.Scope names it.
func inScope(scope, job string) bool {
	if scope == wholeScope {
		return true
	}
	for pattern := range strings.SplitSeq(scope, "\x00") {
		if matches, err := path.Match(pattern, job); matches && err == nil {
			return true
		}
	}
	return false
}

// wholeScope is the scope of those who may read all jobs.
const wholeScope = "*"

// overview sums up the jobs of a scope.
func (h *Hub) overview(scope string, now time.Time) Overview {
	p := h.picture.Load()
	o := Overview{
		Revision: p.Revision, AsOf: p.AsOf, Counts: make(map[string]int), Needs: []Need{}, Runs: []Minute{},
		Leaders: []Leading{}, Outside: []operate.OutsideChange{}, Upcoming: make([]int, upcomingParts),
	}
	first := now.Truncate(upcomingPart)
	o.UpcomingFrom = first.UTC()
	leads, lives := make(map[string]int), make(map[string]bool)
	var scoped []*jobLive
	for _, row := range p.Rows {
		if !inScope(scope, row.Job) {
			continue
		}
		j := row.live
		scoped = append(scoped, j)
		o.Jobs++
		o.Counts[row.shown]++
		if row.need != nil {
			o.Needs = append(o.Needs, *row.need)
		}
		for i := range j.instances {
			lives[j.instances[i].ID] = true
		}
		switch {
		case row.Leader != "":
			leads[row.Leader]++
		case row.Instances > 0 && row.Status != operate.Disabled: // nobody leads what is disabled
			o.Leaderless++
		}
		o.Outside = append(o.Outside, row.Outside...)
		j.upcoming.show(p.Namespace, row, first)
		for i, fires := range j.upcoming.fires {
			o.Upcoming[i] += int(fires)
		}
	}
	o.Instances = len(lives)
	o.sort(leads)
	o.Runs = h.runsByMinute(scope, scoped, now)
	return o
}

func (o *Overview) sort(leads map[string]int) {
	slices.SortStableFunc(o.Needs, func(a, b Need) int {
		return cmp.Or(slices.Index(urgent, a.Word)-slices.Index(urgent, b.Word), a.Since.Compare(b.Since))
	})
	if o.NeedsMore = max(0, len(o.Needs)-mostNeeds); o.NeedsMore > 0 {
		o.Needs = o.Needs[:mostNeeds]
	}
	for instance, jobs := range leads {
		o.Leaders = append(o.Leaders, Leading{instance, jobs})
	}
	slices.SortFunc(o.Leaders, func(a, b Leading) int {
		return cmp.Or(b.Jobs-a.Jobs, strings.Compare(a.Instance, b.Instance))
	})
	o.Leaders = o.Leaders[:min(len(o.Leaders), mostLeaders)]
	slices.SortStableFunc(o.Outside, func(a, b operate.OutsideChange) int { return cmp.Compare(b.Revision, a.Revision) })
	if o.OutsideMore = max(0, len(o.Outside)-mostOutside); o.OutsideMore > 0 {
		o.Outside = o.Outside[:mostOutside]
	}
}

// needOf tells why a job needs a person; nil if it needs none, as one that was switched off. stays tells that nobody has led it
// for some time.
func needOf(row *operate.JobRow, failures int, disabled, stays bool) *Need {
	if disabled {
		return nil
	}
	for _, word := range urgent {
		has := slices.ContainsFunc(row.Reasons, is(operate.ReasonWord(word)))
		if word == string(operate.NoLeader) {
			has = has && stays
		}
		if has || word == WordFailing && failures >= failingAfter {
			reasons := row.Reasons
			if at := slices.IndexFunc(reasons, is(operate.NoLeader)); at > 0 && word == string(operate.NoLeader) {
				// For it nobody gives new owners to items whose owners are gone, of which the reasons before it tell.
				reasons = slices.Concat(reasons[at:at+1], reasons[:at], reasons[at+1:])
			}
			return &Need{
				Job: row.Job, Word: word, Reasons: orEmpty(reasons), Since: row.OverdueSince, Failures: failures, Last: row.Last,
			}
		}
	}
	return nil
}

func is(word operate.ReasonWord) func(operate.Reason) bool {
	return func(r operate.Reason) bool { return r.Word == word }
}
