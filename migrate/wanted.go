package migrate

import (
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// wanted returns the nodes that the target is to have of what operators said, by path.
func (o *original) wanted() map[string]string {
	tree := o.state.Tree()
	nodes := make(map[string]string)
	for n := range o.config.ShardingTotalCount {
		if o.state.Item(n).Disabled {
			nodes[tree.ItemDisabled(n)] = ""
		}
	}
	for _, s := range o.state.Servers {
		// Java has a node for every server that ever was. One that is enabled says something only where
		// servers start disabled.
		disabled := s.Disabled && (o.oneByOne == nil || slices.Contains(o.oneByOne, s.IP))
		if disabled || o.config.Disabled {
			nodes[tree.Server(s.IP)] = jobtree.EncodeServer(disabled)
		}
	}
	for _, ip := range o.flagged {
		nodes[tree.Server(ip)] = jobtree.EncodeServer(true)
	}
	return nodes
}

// tokens returns where the tokens of the job must start in the target. At present they start there at present, which
// stays if it is enough, so that a repetition changes nothing.
func (o *original) tokens(present int64) jobtree.Tokens {
	before := o.state.Tokens().Value
	if present >= before.Of(o.seen) {
		return jobtree.Tokens{Base: present}
	}
	return jobtree.Tokens{Base: before.Of(o.bound)}
}
