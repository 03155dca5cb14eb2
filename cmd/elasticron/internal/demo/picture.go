package demo

import (
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// picture is what the registry says of the job's members at one time. It never changes.
type picture struct {
	leader    string                       // instance id; empty = none
	instances map[string]registry.Revision // live ones, and when each joined
	owners    []string                     // of the items; empty = nobody
}

func pictureOf(st *jobtree.State) picture {
	p := picture{
		leader:    st.Leader.Instance,
		instances: make(map[string]registry.Revision, len(st.Instances)),
		owners:    make([]string, st.Total()),
	}
	for _, in := range st.Instances {
		p.instances[in.ID] = in.Created
	}
	for item := range p.owners {
		p.owners[item] = st.Owner(item)
	}
	return p
}

func (p picture) equal(other picture) bool {
	return p.leader == other.leader && maps.Equal(p.instances, other.instances) && slices.Equal(p.owners, other.owners)
}

// held returns the items of an instance.
func (p picture) held(instance string) []int {
	var items []int
	for item, owner := range p.owners {
		if owner == instance {
			items = append(items, item)
		}
	}
	return items
}

// complete tells whether these instances, and no others, share all items, each has some, and one of
// them leads.
func (p picture) complete(instances []string) bool {
	for _, id := range instances {
		if _, lives := p.instances[id]; !lives || len(p.held(id)) == 0 {
			return false
		}
	}
	mine := func(id string) bool { return slices.Contains(instances, id) }
	stranger := func(id string) bool { return !mine(id) }
	return len(p.instances) == len(instances) && len(p.owners) > 0 &&
		mine(p.leader) && !slices.ContainsFunc(p.owners, stranger)
}

// lost returns the instances that were there before and are not any more, be it that they joined
// anew since, in the order of their ids.
func (p picture) lost(before picture) []string {
	var gone []string
	for id, joined := range before.instances {
		if p.instances[id] != joined {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	return gone
}

// joined returns the instances that are there now and were not before, in the order of their ids.
func (p picture) joined(before picture) []string { return before.lost(p) }
