package jobtree

import "github.com/elasticron/elasticron/registry"

// itemNodes is an [Item] as a job keeps it: small, as a process may hold tens of thousands of items
// of which few run.
type itemNodes struct {
	instance         string
	instanceRevision registry.Revision
	failoverItem     registry.Revision
	disabled         bool
	next             *Stored[Next]
	running          *Mark
	failover         *Mark
	claimed          *Mark
	misfire          *Stored[Misfire]
	record           *storedRecord
}

// storedRecord is a record and its current execution, which nearly every record has, in one piece.
type storedRecord struct {
	Stored[Record]
	created registry.Revision
	current Execution
}

func storedRecordOf(n registry.Node) *storedRecord {
	if !n.Exists() {
		return nil
	}
	s := &storedRecord{Stored: Stored[Record]{Revision: n.Revision}, created: n.Created}
	s.Value, s.Err = decodeRecord(n, &s.current)
	return s
}

// get returns the record; the zero one of nil.
func (s *storedRecord) get() Stored[Record] {
	if s == nil {
		return Stored[Record]{}
	}
	return s.Stored
}

// item returns the nodes in full.
func (in *itemNodes) item(number int) Item {
	return Item{
		Number:           number,
		Instance:         in.instance,
		InstanceRevision: in.instanceRevision,
		Next:             valueOf(in.next),
		Running:          valueOf(in.running),
		Failover:         valueOf(in.failover),
		Claimed:          valueOf(in.claimed),
		Misfire:          valueOf(in.misfire),
		Disabled:         in.disabled,
		Record:           in.record.get(),
		FailoverItem:     in.failoverItem,
	}
}

// owner is [Item.Owner] without building the item.
func (in *itemNodes) owner(inForce EpochID) string {
	if in.next == nil {
		return in.instance
	}
	return Item{Instance: in.instance, Next: *in.next}.Owner(inForce)
}

// set takes over the new state of one of the item's nodes.
func (in *itemNodes) set(kind Kind, n registry.Node) {
	switch kind {
	case KindItemInstance:
		in.instance, in.instanceRevision = n.Value, n.Revision
	case KindItemNext:
		in.next = storedRarely(n, DecodeNext)
	case KindItemRunning:
		in.running = markOf(n)
	case KindItemFailover:
		in.failover = markOf(n)
	case KindItemFailovering:
		in.claimed = markOf(n)
	case KindItemMisfire:
		in.misfire = storedRarely(n, DecodeMisfire)
	case KindItemDisabled:
		in.disabled = n.Exists()
	case KindItemRecord:
		in.record = storedRecordOf(n)
	case KindFailoverItem:
		in.failoverItem = n.Revision
	}
}

func markOf(n registry.Node) *Mark {
	if !n.Exists() {
		return nil
	}
	return &Mark{Value: n.Value, Session: n.Session, Created: n.Created, Revision: n.Revision}
}

// itemList holds the nodes of items by number, without gaps, up to the last item that has
// any. So it depends on what is there alone, and not on what was.
type itemList []itemNodes

// get returns the nodes of an item; nil if there are none.
func (l itemList) get(item int) *itemNodes {
	if item < 0 || item >= len(l) {
		return nil
	}
	return &l[item]
}

// grown returns the list with room for an item.
func (l itemList) grown(item int) itemList {
	n := item + 1
	if n <= len(l) {
		return l
	}
	if n > cap(l) {
		// Tightly: most jobs have a few items, and the rest grows but once.
		larger := make(itemList, len(l), max(n, len(l)+len(l)/4))
		copy(larger, l)
		l = larger
	}
	return l[:n]
}

// trimmed returns the list without the empty places at its end.
func (l itemList) trimmed() itemList {
	n := len(l)
	for n > 0 && l[n-1] == (itemNodes{}) {
		n--
	}
	switch {
	case n == 0:
		return nil
	case cap(l) > 4*n+16:
		return append(itemList(nil), l[:n]...)
	default:
		return l[:n]
	}
}
