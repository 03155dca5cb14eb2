package jobtree

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// MaxMissedFires is how many fires a misfire node names at most, the newest. It is what a job may ask to
// be kept.
const MaxMissedFires = 1_000

// Misfire is what an item's misfire node says of the fires that it missed. It belongs to the item and
// not to who noted it: whoever owns the item makes them up. The zero Misfire says that there were some,
// and not which: it is the empty text that Java writes.
//
// A fire that is not later than the record's LastFire was run since, and does not count.
type Misfire struct {
	// Fires are the missed fires, ascending.
	Fires []time.Time
	// Since tells, if it is not zero, that every fire of the schedule from it up to the first of Fires
	// was missed, too. Nobody notes that any more; values that were written before do.
	Since time.Time
	// Times names by what the job fired when these fires came, its cron and its zone; see the
	// configuration. A job that fires by other times by now has not missed them. Empty is not known.
	Times string
}

// Newest returns the newest missed fire; zero if it is not known.
func (m Misfire) Newest() time.Time {
	if len(m.Fires) == 0 {
		return time.Time{}
	}
	return m.Fires[len(m.Fires)-1]
}

// EncodeMisfire returns the text of a misfire node: JSON, or nothing for the zero Misfire. The fires are
// one text, the first as a time and the others as what is added to the one before, as in
// "2026-01-02T12:00:00Z +5s*3 +1m0s". Of more than [MaxMissedFires] it has the newest.
func EncodeMisfire(m Misfire) string {
	if len(m.Fires) == 0 {
		return ""
	}
	fires := m.Fires[max(0, len(m.Fires)-MaxMissedFires):]
	w := writer{text: []byte{'{'}}
	w.instant("since", m.Since)
	w.string("fires", encodeFires(fires))
	w.string("times", m.Times)
	return string(append(w.text, '}'))
}

// DecodeMisfire reads a misfire node, also one of the form {"oldest", "newest", "count"}, which tells
// the first and the last fire alone. Members that it does not know are left out.
func DecodeMisfire(n registry.Node) (Misfire, error) {
	if n.Value == "" {
		return Misfire{}, nil
	}
	o, err := parseObject(n.Value)
	if err != nil {
		return Misfire{}, at(n.Path, err)
	}
	var missed Misfire
	var r reader
	for m := range o.members() {
		switch m.name {
		case "fires":
			missed.Fires = r.fires(m)
		case "since", "oldest":
			missed.Since = r.instant(m)
		case "newest":
			if newest := r.instant(m); len(missed.Fires) == 0 && !newest.IsZero() {
				missed.Fires = []time.Time{newest}
			}
		case "times":
			missed.Times = r.text(m)
		}
	}
	if r.err != nil {
		return Misfire{}, at(n.Path, r.err)
	}
	return missed.settled(), nil
}

// settled returns the same in the one form in which it is said.
func (m Misfire) settled() Misfire {
	if len(m.Fires) == 0 {
		if m.Since.IsZero() {
			return Misfire{}
		}
		m.Fires = []time.Time{m.Since}
	}
	if !m.Since.Before(m.Fires[0]) {
		m.Since = time.Time{}
	}
	return m
}

// MissedFires returns fires in the form in which a [Misfire] has them: ascending, in UTC, each once.
func MissedFires(fires ...time.Time) []time.Time {
	sorted := slices.Clone(fires)
	for i, fire := range sorted {
		sorted[i] = fire.UTC()
	}
	slices.SortFunc(sorted, time.Time.Compare)
	return slices.CompactFunc(sorted, time.Time.Equal)
}

// longestStep is the longest time between two fires that a list of fires gives as a duration; what is
// longer is given as a time again.
const longestStep = 100 * 365 * 24 * time.Hour

// encodeFires writes ascending times as the first one and the steps to the others, equal ones
// together: the fires of a cron are mostly equally far apart.
func encodeFires(fires []time.Time) string {
	var b []byte
	var last time.Time
	for i := 0; i < len(fires); i++ {
		step := fires[i].Sub(last)
		if i == 0 || step > longestStep {
			if i > 0 {
				b = append(b, ' ')
			}
			b = fires[i].UTC().AppendFormat(b, time.RFC3339Nano)
			last = fires[i]
			continue
		}
		times := 1
		for i+1 < len(fires) && fires[i+1].Sub(fires[i]) == step {
			i++
			times++
		}
		b = append(append(b, " +"...), step.String()...)
		if times > 1 {
			b = strconv.AppendInt(append(b, '*'), int64(times), 10)
		}
		last = fires[i]
	}
	return string(b)
}

// fires reads what encodeFires writes.
func (r *reader) fires(m member) []time.Time {
	var fires []time.Time
	for _, word := range strings.Fields(r.text(m)) {
		step, times, ok := fireStep(word)
		if !ok {
			at, err := time.Parse(time.RFC3339Nano, word)
			if err != nil || len(fires) > 0 && !at.After(fires[len(fires)-1]) {
				r.fault(m, firesForm)
				return nil
			}
			fires = append(fires, at.UTC())
			continue
		}
		if len(fires) == 0 || len(fires)+times > MaxMissedFires {
			r.fault(m, firesForm)
			return nil
		}
		for range times {
			fires = append(fires, fires[len(fires)-1].Add(step))
		}
	}
	if len(fires) == 0 || len(fires) > MaxMissedFires || !storable(fires[0]) || !storable(fires[len(fires)-1]) {
		r.fault(m, firesForm)
		return nil
	}
	return fires
}

const firesForm = `must be at most 1000 ascending times, such as "2026-01-02T12:00:00Z +5s*3 +1m0s"`

// fireStep reads a step and how often it is taken.
func fireStep(word string) (step time.Duration, times int, ok bool) {
	text, is := strings.CutPrefix(word, "+")
	if !is {
		return 0, 0, false
	}
	text, count, repeated := strings.Cut(text, "*")
	times = 1
	if repeated {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > MaxMissedFires {
			return 0, 0, false
		}
		times = n
	}
	step, err := time.ParseDuration(text)
	return step, times, err == nil && step > 0 && step <= longestStep
}
