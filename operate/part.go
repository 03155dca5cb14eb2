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
	running  int // of these
}

// partsOf returns the parts of a job's live instances, in the order of their ids.
func partsOf(st *jobtree.State) []part {
	if len(st.Instances) == 0 {
		return nil
	}
	parts := make([]part, len(st.Instances))
	for i, in := range st.Instances {
		parts[i] = part{instance: in.ID, leads: st.Leader.Instance == in.ID, enabled: st.ServerEnabled(jobtree.ServerOf(in.ID)), leaving: in.Shutdown}
	}
	for number := range st.Total() {
		owner := st.Owner(number)
		if owner == "" {
			continue
		}
		i, lives := slices.BinarySearchFunc(parts, owner, func(p part, id string) int { return strings.Compare(p.instance, id) })
		if !lives {
			continue
		}
		parts[i].items++
		if st.Item(number).Running.Exists() {
			parts[i].running++
		}
	}
	return parts
}
