package operate

import (
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// part is what one instance has of one job. It is worked out once for each look, so that a list of all instances need
// not go through all items of all jobs.
type part struct {
	instance string
	leads    bool
	enabled  bool // its server, whether or not the job is
	leaving  bool
	items    int // that it owns
	running  int // that run there, whoever owns them by now
}

// stayer is an instance that has left a job, and still runs items of it.
type stayer struct {
	instance string
	items    []int
}

// partsOf returns the parts of a job's live instances, in the order of their ids, and who runs items beside them.
func partsOf(st *jobtree.State) ([]part, []stayer) {
	parts := make([]part, len(st.Instances))
	for i, in := range st.Instances {
		parts[i] = part{instance: in.ID, leads: st.Leader.Instance == in.ID, enabled: st.ServerEnabled(jobtree.ServerOf(in.ID)), leaving: in.Shutdown}
	}
	of := func(id string) *part {
		i, lives := slices.BinarySearchFunc(parts, id, func(p part, id string) int { return strings.Compare(p.instance, id) })
		if !lives {
			return nil
		}
		return &parts[i]
	}
	var stay []stayer
	for number := range max(st.Total(), st.Items()) {
		if owner := of(st.Owner(number)); owner != nil && number < st.Total() {
			owner.items++
		}
		runner := st.Runner(number)
		if runner == "" {
			continue
		}
		if runs := of(runner); runs != nil {
			runs.running++
			continue
		}
		i := slices.IndexFunc(stay, func(s stayer) bool { return s.instance == runner })
		if i < 0 {
			i, stay = len(stay), append(stay, stayer{instance: runner})
		}
		stay[i].items = append(stay[i].items, number)
	}
	return parts, stay
}
