package live

import (
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

// follow takes over what the timeline says now, and leaves what is older as it is.
func (r recent) follow(now []run) recent {
	if len(now) == 0 {
		return r
	}
	kept := r[:0:0]
	for _, old := range r {
		switch {
		case old.fire != 0 && old.fire == now[0].fire: // of which the timeline may have forgotten a part
			now[0].begin = min(old.begin, now[0].begin)
			if old.letter != 'r' {
				now[0].letter = worse(old.letter, now[0].letter)
			}
		case old.begin < now[0].begin:
			kept = append(kept, run{begin: old.begin, fire: old.fire, letter: old.letter})
		}
	}
	kept = append(kept, now...)
	return kept[max(0, len(kept)-mostRuns):]
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
	j.recent = j.recent.follow(j.line.runs())
	if len(j.recent) == 0 && row.Last != nil {
		j.recent = recent{{begin: milliseconds(row.Last.Begin), fire: milliseconds(row.Last.Fire), letter: letterOf(row.Last.Outcome)}}
	}
	return ListedJob{JobRow: row, Runs: j.recent.String()}
}
