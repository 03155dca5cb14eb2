package live

import (
	"cmp"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
)

// ListedJob is a job as lists of the console show it.
type ListedJob struct {
	operate.JobRow
	// Runs tells how the job's last runs went, at most 20, the oldest first, by a letter each: s success, f failed or lost, i
	// interrupted, r running, u unknown. A run is what ran for one fire or, if by hand, one round. Only those are there of which
	// the hub knows.
	Runs string `json:"runs,omitempty"`
}

// mostRuns is how many runs a row tells of.
const mostRuns = 20

// The letters of runs, the worst first: one that runs and has failed already has failed.
const runLetters = "firus"

// run is all that ran for a fire.
type run struct {
	begin, fire int64  // in milliseconds; a run by hand has no fire
	round       string // of a run by hand
	letter      byte
}

func letterOf(outcome string) byte {
	switch outcome {
	case string(jobtree.Success):
		return 's'
	case string(jobtree.Failure), string(jobtree.Lost):
		return 'f'
	case string(jobtree.Interrupted):
		return 'i'
	case outcomeRunning:
		return 'r'
	default:
		return 'u'
	}
}

func worse(a, b byte) byte {
	if strings.IndexByte(runLetters, a) < strings.IndexByte(runLetters, b) {
		return a
	}
	return b
}

// nearby is among how many of the latest runs one looks for that of a span: items of a fire begin at about the same time.
const nearby = 8

// runs returns the last runs of a timeline in the order in which they began.
func (t *timeline) runs() (all []run) {
	for _, s := range t.spans {
		letter := letterOf(s.outcome.Value())
		if s.running() && s.cut != 0 {
			letter = 'u' // its instance is gone, and nobody has said yet what became of it
		}
		known := false
		for i := len(all) - 1; i >= max(0, len(all)-nearby) && !known; i-- {
			r := &all[i]
			if known = s.fire == r.fire && (s.fire != 0 || s.round == r.round && s.round != ""); known {
				r.letter = worse(r.letter, letter)
			}
		}
		if !known {
			all = append(all, run{begin: s.begin, fire: s.fire, round: s.round, letter: letter})
		}
	}
	return all[max(0, len(all)-mostRuns):]
}

// recent are a job's last runs, also from before what the timeline holds.
type recent []run

// same tells whether two are the same run.
func (r *run) same(other *run) bool {
	switch {
	case r.fire != 0 || other.fire != 0:
		return r.fire == other.fire
	case r.round != "" && other.round != "":
		return r.round == other.round
	default:
		return r.begin == other.begin
	}
}

// follow takes over what the timeline says now. What began before forgotten stays as it is, as the timeline may have
// forgotten it or a part of it; of what began later it knows all, so what it does not tell of was taken back.
func (r recent) follow(now []run, forgotten int64) recent {
	if len(now) == 0 {
		return r
	}
	all := slices.Clone(now)
	for _, old := range r {
		i := slices.IndexFunc(now, func(is run) bool { return is.same(&old) })
		switch {
		case i >= 0 && old.begin < forgotten:
			all[i].begin = min(old.begin, all[i].begin)
			if old.letter != 'r' {
				all[i].letter = worse(old.letter, all[i].letter)
			}
		case i < 0 && old.begin < forgotten:
			if old.letter == 'r' { // what runs is not forgotten, so it has ended
				old.letter = 'u'
			}
			all = append(all, old)
		}
	}
	slices.SortStableFunc(all, func(a, b run) int { return cmp.Compare(a.begin, b.begin) })
	return slices.Clone(all[max(0, len(all)-mostRuns):])
}

// String returns the letters.
func (r recent) String() string {
	letters := make([]byte, len(r))
	for i := range r {
		letters[i] = r[i].letter
	}
	return string(letters)
}

// listed is the row of a job as lists show it.
func (j *jobLive) listed(row operate.JobRow) ListedJob {
	j.recent = j.recent.follow(j.line.runs(), j.line.forgotten)
	if len(j.recent) == 0 && row.Last != nil { // which the timeline never heard of
		j.recent = recent{{begin: milliseconds(row.Last.Begin), fire: milliseconds(row.Last.Fire), letter: letterOf(row.Last.Outcome)}}
		j.line.forgotten = max(j.line.forgotten, j.recent[0].begin+1)
	}
	return ListedJob{JobRow: row, Runs: j.recent.String()}
}
