package jobtree

import (
	"errors"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// State is a job's tree in typed form. It follows a registry view: [State.Apply] takes over what
// changed, and reads nothing else again. It depends on the nodes that there are alone, not on the
// way by which they came.
//
// A State is for one goroutine at a time. Its fields and what they refer to are to be read only. An
// idle job of two items takes 1.8 kB beside the texts of its nodes, which it shares.
type State struct {
	// Config is the job's configuration.
	Config Stored[job.Config]
	// Servers are those about which an operator said something, in ascending order of their addresses.
	Servers []Server
	// Instances are the live ones, in ascending order of their ids.
	Instances []Instance
	// Leader is the leading instance.
	Leader Leader
	// Necessary is the revision of the latest request for a resharding; 0 = there is none.
	Necessary registry.Revision
	// Epoch says which assignment is in force. Where only Java led so far there is none.
	Epoch Stored[Epoch]
	// FailoverItems are the items that ask for a claimant, in ascending order.
	FailoverItems []int
	// Left are the instances that left by their own will and whose items were perhaps not given to
	// others yet, in ascending order of their ids.
	Left []string
	// Revision is the newest state of the registry that this shows.
	Revision registry.Revision

	tree    Tree
	items   itemList
	tokens  *Stored[Tokens]
	trigger *Stored[Triggered]
	java    *java // nil unless Java instances share the job
	few     *few  // nil for most jobs
}

// few is what few jobs have.
type few struct {
	offsets  map[int]offset
	barriers *[len(Phases)]BarrierState
	narrow   *narrow // of items some are not followed, or were not until the next step; see [State.Narrow]
}

// rest returns what few jobs have, to be changed.
func (s *State) rest() *few {
	if s.few == nil {
		s.few = new(few)
	}
	return s.few
}

// NewState returns the state of a job about which nothing is known.
func NewState(job string) *State { return &State{tree: For(job)} }

// StateOf returns the state of a job as a snapshot shows it. It is for those who look once.
func StateOf(job string, snapshot registry.Snapshot) *State {
	s := NewState(job)
	s.show(snapshot)
	return s
}

// show takes over all of a snapshot.
func (s *State) show(snapshot registry.Snapshot) {
	step := registry.Step{Snapshot: snapshot}
	for n := range snapshot.Below(s.tree.Root()) {
		step.Changes = append(step.Changes, registry.Change{New: n})
	}
	s.Apply(step)
}

// Tree names the nodes of the job.
func (s *State) Tree() Tree { return s.tree }

// Tokens returns what is added to the job's fencing tokens; most jobs have no such node. It is for
// those who begin executions under the condition that Config is unchanged: whoever writes the node
// writes the config node in the same transaction.
func (s *State) Tokens() Stored[Tokens] { return valueOf(s.tokens) }

// Triggered returns the last request to run items by hand, whose number is the revision of its node.
// Many jobs have none. If it cannot be read, Err is set and nothing runs for it.
func (s *State) Triggered() Stored[Triggered] { return valueOf(s.trigger) }

// Server returns the server at an address; the zero Server, which is enabled, if nothing was said of
// it.
func (s *State) Server(ip string) Server { return find(s.Servers, ip, compareServer) }

// Barrier returns what is known of the barrier of a phase.
func (s *State) Barrier(p Phase) BarrierState { return valueOf(valueOf(s.few).barriers)[p] }

// Enabled tells whether an instance may be given items and may lead: unless an operator disabled its server, or
// the job. Nothing is written when a server starts, so nothing is left behind when it goes for good.
func (s *State) Enabled(instance string) bool {
	return !s.JobDisabled() && s.ServerEnabled(ServerOf(instance))
}

// AnybodyEnabled tells whether an instance lives that [State.Enabled] is true for: somebody may run items.
func (s *State) AnybodyEnabled() bool {
	return slices.ContainsFunc(s.Instances, func(i Instance) bool { return s.Enabled(i.ID) })
}

// ServerEnabled tells whether a server may run the job, as far as the server goes: no operator disabled it, whether or not
// the job is disabled as a whole.
func (s *State) ServerEnabled(ip string) bool {
	server := s.Server(ip)
	return !server.Disabled && (s.Layout() != ElasticJob3 || server.Revision != 0)
}

// MayOwn tells whether a live instance may be given items: unless it is disabled, or leaves the job. One that leaves is
// there for as long as something runs there whose mark was taken away. Java leaves otherwise, and heeds no such value.
func (s *State) MayOwn(i Instance) bool {
	return s.Enabled(i.ID) && (!i.Shutdown || s.java != nil && JavaInstance(i.ID))
}

// JobDisabled tells whether the job's configuration disables it as a whole, whatever is said of its servers. In a job
// that is shared with Java it does not: there it says how new servers start; see [State.ShareWithJava].
func (s *State) JobDisabled() bool { return s.java == nil && s.Config.Value.Disabled }

// Elsewhere tells whether the job's home is another registry. Then nothing of it begins here, whatever was read before.
func (s *State) Elsewhere() bool {
	away := (*ElsewhereError)(nil)
	return errors.As(s.Config.Err, &away)
}

// Instance returns the instance with an id; the zero Instance if it does not live.
func (s *State) Instance(id string) Instance { return find(s.Instances, id, compareInstance) }

// Items returns the number of items that the tree mentions, surplus ones included: their
// numbers are below it.
func (s *State) Items() int { return len(s.items) }

// Item returns everything of one item. The result shares nothing that changes.
func (s *State) Item(item int) Item {
	all := Item{Number: item}
	if nodes := s.items.get(item); nodes != nil {
		all = nodes.item(item)
		s.settleMark(&all)
	}
	if !s.Knows(item) {
		all.Record = Stored[Record]{Err: ErrNotFollowed}
	}
	checkpoint := valueOf(s.few).offsets[item]
	all.Offset, all.OffsetRevision = checkpoint.text, checkpoint.revision
	return all
}

// Record returns the record of an item, as [State.Item] does, for those who ask for nothing else of many items.
func (s *State) Record(item int) Stored[Record] {
	if !s.Knows(item) {
		return Stored[Record]{Err: ErrNotFollowed}
	}
	if nodes := s.items.get(item); nodes != nil {
		return nodes.record.get()
	}
	return Stored[Record]{}
}

// Disabled tells whether an operator excluded an item.
func (s *State) Disabled(item int) bool {
	nodes := s.items.get(item)
	return nodes != nil && nodes.disabled
}

// Total returns the sharding total count of the assignment in force: the epoch's, or the configuration's if there is no
// epoch; see [State.ShareWithJava] for jobs that are shared. Items from that number on are surplus and must not run.
func (s *State) Total() int {
	if s.java != nil {
		return s.java.assigned
	}
	if s.Epoch.Exists() {
		return s.Epoch.Value.Total
	}
	return s.Config.Value.ShardingTotalCount
}

// Owner returns the id of the instance to which an item is assigned; empty if to none, and for
// surplus items.
func (s *State) Owner(item int) string {
	nodes := s.items.get(item)
	if nodes == nil || item >= s.Total() {
		return ""
	}
	if s.java != nil {
		return nodes.instance
	}
	return nodes.owner(s.Epoch.Value.ID())
}

// OwnerGuards returns the conditions under which [State.Owner] is still right for an item when a
// transaction commits. That next is as it was read matters also where there is none: an assignment
// that is written in parts changes the owner by next and epoch alone.
func (s *State) OwnerGuards(item int) []registry.Condition {
	var nodes itemNodes
	if kept := s.items.get(item); kept != nil {
		nodes = *kept
	}
	guards := append(make([]registry.Condition, 0, 3), registry.Unchanged(s.tree.ItemInstance(item), nodes.instanceRevision))
	if s.java != nil {
		return guards
	}
	next := valueOf(nodes.next)
	guards = append(guards, registry.Unchanged(s.tree.ItemNext(item), next.Revision))
	if next.Exists() {
		guards = append(guards, registry.Unchanged(s.tree.Epoch(), s.Epoch.Revision))
	}
	return guards
}

// Apply takes over a step of a view that shows the job, and tells what it touched. Nodes of other
// jobs, nodes that mean nothing here and items from job.MaxShardingTotalCount on are passed over.
func (s *State) Apply(step registry.Step) Touched {
	t := Touched{Items: s.regained()}
	for _, c := range step.Changes {
		if name, ok := Parse(c.Path()); ok && name.Job == s.tree.Job() {
			s.set(name, c.New, &t)
		}
	}
	s.Revision = step.Snapshot.Revision()
	t.settle()
	return t
}

// set takes over the new state of a node; n is the zero Node if it was removed.
func (s *State) set(name Name, n registry.Node, t *Touched) {
	switch name.Kind {
	case KindConfig, KindRoot:
		t.Config = s.setConfig(name, n) || t.Config
	case KindTokens:
		s.tokens, t.Config = storedRarely(n, DecodeTokens), true
	case KindTriggered:
		s.trigger, t.Triggered = storedRarely(n, DecodeTriggered), true
	case KindServer:
		s.Servers = replace(s.Servers, name.Key, compareServer, s.Layout().serverOf(name.Key, n), n.Exists())
		t.Servers = true
	case KindInstance:
		s.Instances = replace(s.Instances, name.Key, compareInstance, s.asked(s.Layout().instanceOf(name.Key, n)), n.Exists())
		t.Instances = true
		s.markedBy(name.Key, t)
	case KindInstanceTrigger:
		t.Instances = s.setTrigger(name.Key, n) || t.Instances
	case KindLeader:
		s.Leader, t.Leader = leaderOf(n), true
	case KindNecessary:
		s.Necessary, t.Necessary = n.Revision, true
	case KindProcessing:
		t.Necessary = s.noteProcessing(n) || t.Necessary
	case KindFailoverLeft:
		s.Left = replace(s.Left, name.Key, strings.Compare, name.Key, n.Exists())
		t.Instances = true
	case KindEpoch:
		s.Epoch, t.Epoch = stored(n, DecodeEpoch), true
	case KindOffset:
		s.setOffset(name.Item, n)
	case KindStarted, KindCompleted, KindStartedHook, KindCompletedHook:
		s.setBarrier(name.Kind, n)
		t.Barriers = true
	default:
		s.setOfItem(name, n, t)
	}
}

func (s *State) setBarrier(kind Kind, n registry.Node) {
	barriers := valueOf(valueOf(s.few).barriers)
	b := &barriers[PhaseStarted]
	if kind == KindCompleted || kind == KindCompletedHook {
		b = &barriers[PhaseCompleted]
	}
	if kind == KindStarted || kind == KindCompleted {
		b.Round = stored(n, DecodeBarrier)
	} else {
		b.Hook = valueOf(markOf(n))
	}
	s.rest().barriers = &barriers
	for _, b := range barriers {
		if b.Round.Exists() || b.Hook.Exists() {
			return
		}
	}
	s.few.barriers = nil
	s.settleRest()
}

func (s *State) setOfItem(name Name, n registry.Node, t *Touched) {
	if !keptOfItem(name) || !n.Exists() && name.Item >= len(s.items) {
		return
	}
	s.items = s.items.grown(name.Item)
	s.items[name.Item].set(name.Kind, n)
	if name.Kind == KindItemInstance {
		s.noteAssigned(name.Item, n)
	}
	if name.Kind == KindFailoverItem {
		s.setFailoverItem(name.Item, n.Exists())
	}
	if !n.Exists() {
		s.items = s.items.trimmed()
	}
	t.Owners = t.Owners || name.Kind == KindItemInstance || name.Kind == KindItemNext || name.Kind == KindFailoverItem
	t.addItem(name.Item)
}

// keptOfItem tells whether the node says something of an item that is kept. The bound keeps one
// stray node from taking any amount of memory.
func keptOfItem(name Name) bool {
	switch name.Kind {
	case KindItemInstance, KindItemNext, KindItemRunning, KindItemFailover, KindItemFailovering, KindItemMisfire,
		KindItemDisabled, KindItemRecord, KindFailoverItem:
		return name.Item < job.MaxShardingTotalCount
	default:
		return false
	}
}

// offset is an item's checkpoint, and the revision of its node.
type offset struct {
	text     string
	revision registry.Revision
}

// setOffset takes a checkpoint as it stands; one that was written by hand may be anything. It says
// nothing about what may run, so it touches nothing.
func (s *State) setOffset(item int, n registry.Node) {
	switch {
	case n.Exists() && item < job.MaxShardingTotalCount:
		few := s.rest()
		if few.offsets == nil {
			few.offsets = make(map[int]offset)
		}
		few.offsets[item] = offset{n.Value, n.Revision}
	case len(valueOf(s.few).offsets) > 0:
		delete(s.few.offsets, item)
		if len(s.few.offsets) == 0 {
			s.few.offsets = nil
			s.settleRest()
		}
	}
}

// settleRest forgets what few jobs have where there is nothing of it.
func (s *State) settleRest() {
	if f := s.few; f.offsets == nil && f.barriers == nil && f.narrow == nil {
		s.few = nil
	}
}

func (s *State) setFailoverItem(item int, waits bool) {
	i, found := slices.BinarySearch(s.FailoverItems, item)
	switch {
	case waits && !found:
		s.FailoverItems = slices.Insert(s.FailoverItems, i, item)
	case !waits && found:
		s.FailoverItems = slices.Delete(s.FailoverItems, i, i+1)
	}
	if len(s.FailoverItems) == 0 {
		s.FailoverItems = nil
	}
}

// Touched tells which parts of a [State] a step may have changed.
type Touched struct {
	Config    bool // the configuration, or what is added to tokens
	Servers   bool
	Instances bool
	Leader    bool
	Necessary bool // or processing
	Epoch     bool
	Barriers  bool
	Triggered bool
	Owners    bool  // who owns an item, or whether one asks for a claimant
	Items     []int // in ascending order, each once
}

// addItem notes an item. Most steps come in runs of one item's nodes.
func (t *Touched) addItem(item int) {
	if n := len(t.Items); n == 0 || t.Items[n-1] != item {
		t.Items = append(t.Items, item)
	}
}

// settle puts the items in order; paths sort "10" before "2".
func (t *Touched) settle() {
	slices.Sort(t.Items)
	t.Items = slices.Compact(t.Items)
}
