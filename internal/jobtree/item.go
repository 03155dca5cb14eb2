package jobtree

import (
	"strings"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Item is everything that a job's tree says of one sharding item. The zero Item is one about which it
// says nothing.
type Item struct {
	Number int
	// Instance is what the item's instance node says, and InstanceRevision when it last changed. Who
	// owns the item is up to [Item.Owner].
	Instance         string
	InstanceRevision registry.Revision
	// Next is the owner in an assignment that is, or was, written in parts.
	Next Stored[Next]
	// Running marks the execution that a live session holds, whatever the record says.
	Running Mark
	// Remains is the mark of an execution whose instance is gone, or, if it is Java's, has come anew since, where the layout is
	// [ElasticJob3]: it is persistent there. Then Running is the zero Mark, and whoever begins the item takes the remains away
	// first.
	Remains Mark
	// Failover marks a claim; its value is the claimant's id.
	Failover Mark
	// Claimed marks a claim where the layout is [ElasticJob3]: it is persistent, so it outlives a claimant that is gone.
	Claimed Mark
	// Misfire are the missed fires.
	Misfire Stored[Misfire]
	// Disabled tells that an operator excluded the item.
	Disabled bool
	// Record is what is known of the item's executions. If it cannot be read, Err is set and the
	// item must not run.
	Record Stored[Record]
	// FailoverItem is the revision of the node by which the item asks for a claimant; 0 = it does
	// not.
	FailoverItem registry.Revision
	// Offset is the item's checkpoint; empty if it has none.
	Offset string
	// OffsetRevision is the revision of the checkpoint's node; 0 if there is none. An execution that takes
	// its checkpoint back leaves an empty node until it ends.
	OffsetRevision registry.Revision
}

// Mark is a node of an item that says which instance is at it. It is ephemeral, but for some of [ElasticJob3]. The zero Mark is one that is not there.
type Mark struct {
	Value    string
	Session  registry.SessionID
	Created  registry.Revision
	Revision registry.Revision
}

// Exists tells whether the node is there.
func (m Mark) Exists() bool { return m.Revision != 0 }

// Owner returns the id of the instance to which the item is assigned while the assignment of the
// given epoch is in force: what next says if it belongs to that epoch, else what instance says.
// Empty is nobody.
func (it Item) Owner(inForce EpochID) string {
	// Without an epoch, the zero id must not match what next says, be it nothing or unreadable.
	if inForce != (EpochID{}) && it.Next.Value.Epoch == inForce {
		return it.Next.Value.Owner
	}
	return it.Instance
}

// AssignedAt returns the revision of the node by which the item is [Item.Owner]'s; 0 if there is none. An owner that keeps an item
// in a resharding keeps the revision as well.
func (it Item) AssignedAt(inForce EpochID) registry.Revision {
	if inForce != (EpochID{}) && it.Next.Value.Epoch == inForce {
		return it.Next.Revision
	}
	return it.InstanceRevision
}

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

// encodeItems writes ascending item numbers, runs of them as their ends: "0-9,12".
func encodeItems(items []int) string {
	var list []byte
	for first, last := range texts.Runs(items) {
		list = texts.AppendRun(list, first, last)
	}
	return string(list)
}

// items reads what encodeItems wrote. The bound on item numbers keeps one stray node from taking any
// amount of memory.
func (r *reader) items(m member) []int {
	var items []int
	text := r.text(m)
	for text != "" {
		var part string
		part, text, _ = strings.Cut(text, ",")
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, plainFrom := parseItem(first)
		to, plainTo := parseItem(last)
		if !plainFrom || !plainTo || to < from || to >= job.MaxShardingTotalCount || len(items) > 0 && from <= items[len(items)-1] {
			r.fault(m, `must be ascending item numbers such as "0-9,12"`)
			return nil
		}
		for n := from; n <= to; n++ {
			items = append(items, n)
		}
	}
	return items
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

// Stored is the value of a node as it was last read. The zero Stored is a node that is not there.
type Stored[T any] struct {
	// Value is what the node says; the zero T if it is not there or cannot be read.
	Value T
	// Revision is that of the node's last change, 0 if it is not there. It is what a transaction
	// names as "unchanged since".
	Revision registry.Revision
	// Err tells why the value cannot be read. Then nothing may be decided upon it.
	Err error
}

// Exists tells whether the node is there.
func (s Stored[T]) Exists() bool { return s.Revision != 0 }

func stored[T any](n registry.Node, decode func(registry.Node) (T, error)) Stored[T] {
	if !n.Exists() {
		return Stored[T]{}
	}
	value, err := decode(n)
	return Stored[T]{Value: value, Revision: n.Revision, Err: err}
}

// storedRarely keeps in a word what most items do not have.
func storedRarely[T any](n registry.Node, decode func(registry.Node) (T, error)) *Stored[T] {
	if !n.Exists() {
		return nil
	}
	s := stored(n, decode)
	return &s
}

// valueOf returns what p points to; the zero T if it is nil.
func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
