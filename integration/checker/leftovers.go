package checker

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// judgeLeftovers judges what is left when no process is.
func (j *judge) judgeLeftovers() {
	if len(j.States) == 0 {
		return
	}
	for _, instance := range j.instances() {
		if j.alive(instance, j.End) {
			return
		}
	}
	for n := range j.States[len(j.States)-1].Step.Snapshot.All() {
		name, ok := jobtree.Parse(n.Path)
		switch {
		case ok && name.Job != j.Job || j.hands.wrote(n.Path, n.Created) || j.hands.wrote(n.Path, n.Revision):
		case n.Ephemeral():
			j.find(NoLeftovers, j.End, NoItem, "left behind, with a session: "+n.String())
		case !ok || !j.mayStay(name):
			j.find(NoLeftovers, j.End, NoItem, "left behind: "+n.String())
		}
	}
}

// lastBegan returns when an item began last; zero if it never did.
func (j *judge) lastBegan(n int) time.Time {
	if all := j.byItem[n]; len(all) > 0 {
		return all[len(all)-1].began
	}
	return time.Time{}
}

// mayStay tells whether a node says something that is worth knowing when nobody is there.
func (j *judge) mayStay(name jobtree.Name) bool {
	s := j.now
	switch name.Kind {
	case jobtree.KindConfig, jobtree.KindServer, jobtree.KindItemDisabled, jobtree.KindItemRecord, jobtree.KindEpoch,
		jobtree.KindOffset, jobtree.KindStarted, jobtree.KindCompleted, jobtree.KindItemAside,
		jobtree.KindTriggered, jobtree.KindOperated:
		return true
	case jobtree.KindNecessary, jobtree.KindFailoverLeft: // the last one that left asks those who come, and the next leader tidies up
		return true
	case jobtree.KindItemMisfire: // of an item that is not there any more, the next reconciliation removes it
		return true
	case jobtree.KindItemInstance:
		return name.Item < s.Total()
	case jobtree.KindItemNext:
		return s.Item(name.Item).Next.Value.Epoch == s.Epoch.Value.ID()
	case jobtree.KindFailoverItem: // the item's next begin removes it if a careless hand took the record that it belongs to
		return s.Item(name.Item).Record.Value.State == jobtree.ItemWaiting ||
			j.hands.touched(name.Item, j.lastBegan(name.Item), j.End, jobtree.KindItemRecord)
	default:
		return false
	}
}
