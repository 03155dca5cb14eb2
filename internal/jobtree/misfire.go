package jobtree

import (
	"slices"
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
