package zkcompat

import "github.com/elasticron/elasticron/registry"

// removals tell of the znodes that other clients have deleted from a copy, and that views do not show yet, which transaction
// did it ([registry.Change].Removed). A step may have many transactions, and of those that deleted ephemeral znodes of one
// session it matters whether they are the session's end, or its client took one away and then the other.
//
// A server of 3.9 or later says with each event of which transaction it is. If one does not, two parents are read when a
// second ephemeral znode of a session is gone: their pzxid is the last transaction that created or deleted a child. So it is
// with what a new copy lacks, after a break.
type removals struct {
	by    map[string]removal
	first map[registry.SessionID]string // the first ephemeral znode of each session
	below map[string]int                // how many such znodes of a parent are gone: of several, it tells of the last one alone
}

// removal is how the znode went that views show.
type removal struct {
	at      registry.Revision // 0 = not told
	asked   bool              // then the parent tells, if it was read since
	created registry.Revision // of the znode
}

// note notes that a znode is gone, as it was before. It returns the znodes that have to be read.
func (r *removals) note(path string, was znode, at registry.Revision) (parents []string) {
	if _, noted := r.by[path]; noted || !was.there { // the first one removed what is shown
		return nil
	}
	r.add(path, removal{at: at, created: registry.Revision(was.stat.Czxid)})
	session := was.owner()
	if session != 0 {
		if r.below == nil {
			r.below = make(map[string]int)
		}
		r.below[parentOf(path)]++
	}
	first, more := r.first[session]
	switch {
	case session == 0:
		return nil
	case !more && r.first == nil:
		r.first = make(map[registry.SessionID]string)
		fallthrough
	case !more:
		r.first[session] = path
		return nil
	}
	for _, gone := range []string{first, path} {
		if it := r.by[gone]; it.at == 0 && !it.asked {
			it.asked = true
			r.by[gone] = it
			parents = append(parents, parentOf(gone))
		}
	}
	return parents
}

// miss notes that a znode is not in a new copy, as it was in the last one.
func (r *removals) miss(path string, was znode) {
	if _, noted := r.by[path]; noted || was.owner() == 0 {
		return
	}
	r.add(path, removal{asked: true, created: registry.Revision(was.stat.Czxid)})
}

func (r *removals) add(path string, gone removal) {
	if r.by == nil {
		r.by = make(map[string]removal)
	}
	r.by[path] = gone
}

// of returns the transaction that removed a znode, or one that stands for it; 0 if there is none. The znodes are those of
// the copy.
func (r *removals) of(path string, nodes map[string]znode) registry.Revision {
	gone := r.by[path]
	parent := parentOf(path)
	if last := registry.Revision(nodes[parent].stat.Pzxid); gone.asked && last > gone.created && r.below[parent] < 2 {
		return last
	}
	return gone.at
}
