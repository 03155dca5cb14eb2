package jobtree

import (
	"strconv"
	"strings"
)

// Tree names the nodes of one job. It is a small value; the zero Tree names nothing. It has a method for each kind of node,
// also for those that Java alone writes, which are parsed and never built.
type Tree struct {
	root string
}

// The places of nodes below a job, and the ends of an item's nodes.
const (
	nodeConfig     = "/config"
	nodeLeader     = "/leader/election/instance"
	nodeNecessary  = "/leader/sharding/necessary"
	nodeProcessing = "/leader/sharding/processing"
	nodeEpoch      = "/leader/sharding/epoch"
	nodeTokens     = "/leader/tokens"
	nodeTriggered  = "/triggered"
	nodeOperated   = "/operated"
	nodeSystemTime = "/systemTime/current"

	folderServers       = "/servers"
	folderTrigger       = "/trigger"
	folderInstances     = "/instances"
	folderSharding      = "/sharding"
	folderElectionLatch = "/leader/election/latch"
	folderFailoverItems = "/leader/failover/items"
	folderFailoverLatch = "/leader/failover/latch"
	folderFailoverLeft  = "/leader/failover/left"
	folderStarted       = "/guarantee/started"
	folderCompleted     = "/guarantee/completed"
	folderOffset        = "/offset"
	nodeStartedHook     = "/guarantee/started-hook"
	nodeCompletedHook   = "/guarantee/completed-hook"

	itemInstance = "/instance"
	itemRunning  = "/running"
	itemFailover = "/failover"
	itemMisfire  = "/misfire"
	itemDisabled = "/disabled"
	itemClaimed  = "/failovering"
	itemRecord   = "/record"
	itemNext     = "/next"
	itemAside    = "/unreadable"
)

// For returns the tree of a job. It does not check the name; job.Config.Validate does.
func For(job string) Tree { return Tree{root: "/" + job} }

// Job returns the name of the job.
func (t Tree) Job() string {
	if t.root == "" {
		return ""
	}
	return t.root[1:]
}

// Root is the node above all others of the job. It is what to view, and what to delete with the job.
func (t Tree) Root() string { return t.root }

// Config holds the job's configuration; see [EncodeConfig].
func (t Tree) Config() string { return t.root + nodeConfig }

// Triggered holds the last request to run items by hand; see [EncodeTriggered]. Its revision is the number of
// the request.
func (t Tree) Triggered() string { return t.root + nodeTriggered }

// Operated holds what operators did to the job last. Instances of the job do not read it.
func (t Tree) Operated() string { return t.root + nodeOperated }

// ForOperators tells whether a node is one that instances do not read: what operators did may be long, and each
// instance of each job would keep it. So their views leave it out.
func ForOperators(path string) bool {
	if !strings.HasSuffix(path, nodeOperated) { // as most do not
		return false
	}
	name, ok := Parse(path)
	return ok && name.Kind == KindOperated // and not a job of that name
}

// Servers is the folder of [Tree.Server].
func (t Tree) Servers() string { return t.root + folderServers }

// Server holds an operator's intent for the server at an IP address; see [EncodeServer].
func (t Tree) Server(ip string) string { return t.root + folderServers + "/" + ip }

// Instances is the folder of [Tree.Instance].
func (t Tree) Instances() string { return t.root + folderInstances }

// Instance stands for a live instance and belongs to its session; see [InstanceIdle].
func (t Tree) Instance(id string) string { return t.root + folderInstances + "/" + id }

// InstanceTrigger asks an instance to run its items now, where the layout is [ElasticJob3].
func (t Tree) InstanceTrigger(id string) string { return t.root + folderTrigger + "/" + id }

// Sharding is the folder of [Tree.Item].
func (t Tree) Sharding() string { return t.root + folderSharding }

// Item is the folder of all nodes of a sharding item.
func (t Tree) Item(item int) string { return t.ofItem(folderSharding, item, "") }

// ItemInstance holds the id of the instance to which the item is assigned.
func (t Tree) ItemInstance(item int) string { return t.ofItem(folderSharding, item, itemInstance) }

// ItemRunning marks an execution of the item and belongs to its session.
func (t Tree) ItemRunning(item int) string { return t.ofItem(folderSharding, item, itemRunning) }

// ItemFailover marks a claim of the item, holds the claimant's id and belongs to its session.
func (t Tree) ItemFailover(item int) string { return t.ofItem(folderSharding, item, itemFailover) }

// ItemFailovering holds the id of who claimed the item last, where the layout is [ElasticJob3]. It outlives the
// claimant, so that the item can be claimed once more.
func (t Tree) ItemFailovering(item int) string { return t.ofItem(folderSharding, item, itemClaimed) }

// ItemMisfire holds the fires that the item missed; see [EncodeMisfire].
func (t Tree) ItemMisfire(item int) string { return t.ofItem(folderSharding, item, itemMisfire) }

// ItemDisabled excludes the item from execution.
func (t Tree) ItemDisabled(item int) string { return t.ofItem(folderSharding, item, itemDisabled) }

// ItemRecord holds what is known of the item's executions; see [EncodeRecord].
func (t Tree) ItemRecord(item int) string { return t.ofItem(folderSharding, item, itemRecord) }

// ItemNext holds the item's owner in an assignment that is still being written; see [EncodeNext].
func (t Tree) ItemNext(item int) string { return t.ofItem(folderSharding, item, itemNext) }

// ItemAside holds, for an operator to look at, the text of a record that could not be read. Nobody else
// reads it.
func (t Tree) ItemAside(item int) string { return t.ofItem(folderSharding, item, itemAside) }

// Leader holds the id of the leading instance and belongs to its session. The revision of its
// creation is the leader's term.
func (t Tree) Leader() string { return t.root + nodeLeader }

// ElectionLatch is the latch of those who want to lead.
func (t Tree) ElectionLatch() string { return t.root + folderElectionLatch }

// Necessary asks the leader for a resharding. Whoever wants one puts it.
func (t Tree) Necessary() string { return t.root + nodeNecessary }

// Processing tells that a Java leader is resharding.
func (t Tree) Processing() string { return t.root + nodeProcessing }

// Epoch holds number and size of the assignment in force; see [EncodeEpoch].
func (t Tree) Epoch() string { return t.root + nodeEpoch }

// Tokens holds what is added to the fencing tokens of the job; see [EncodeTokens].
func (t Tree) Tokens() string { return t.root + nodeTokens }

// FailoverItem tells that the item's lost execution waits for a claimant.
func (t Tree) FailoverItem(item int) string { return t.ofItem(folderFailoverItems, item, "") }

// FailoverLeft tells that an instance left by its own will, so that its items are not taken for those
// of one that crashed. It goes when the items have new owners.
func (t Tree) FailoverLeft(id string) string { return t.root + folderFailoverLeft + "/" + id }

// FailoverLatch is the latch of claimants.
func (t Tree) FailoverLatch() string { return t.root + folderFailoverLatch }

// ItemStarted is where Java notes that the item arrived at the barrier before a round.
func (t Tree) ItemStarted(item int) string { return t.ofItem(folderStarted, item, "") }

// ItemCompleted is where Java notes that the item arrived at the barrier after a round.
func (t Tree) ItemCompleted(item int) string { return t.ofItem(folderCompleted, item, "") }

// Offsets is the folder of [Tree.Offset].
func (t Tree) Offsets() string { return t.root + folderOffset }

// Offset holds the checkpoint of an item, a text of the job's own; see [EncodeOffset]. It is not below
// the item, where Java instances would count and delete it.
func (t Tree) Offset(item int) string { return t.ofItem(folderOffset, item, "") }

// Barrier is the barrier of a phase of the present round; see [EncodeBarrier]. It stands where Java has
// the folder of arrived items.
func (t Tree) Barrier(p Phase) string {
	if p == PhaseStarted {
		return t.root + folderStarted
	}
	return t.root + folderCompleted
}

// BarrierHook marks that the hook of a barrier runs, holds the instance that runs it and belongs to
// its session.
func (t Tree) BarrierHook(p Phase) string {
	if p == PhaseStarted {
		return t.root + nodeStartedHook
	}
	return t.root + nodeCompletedHook
}

// SystemTime is what Java instances write to learn the registry's clock.
func (t Tree) SystemTime() string { return t.root + nodeSystemTime }

// ofItem builds a path with a single allocation: a round of a large job needs tens of thousands.
func (t Tree) ofItem(folder string, item int, end string) string {
	var buffer [128]byte
	path := append(buffer[:0], t.root...)
	path = append(path, folder...)
	path = append(path, '/')
	path = strconv.AppendInt(path, int64(item), 10)
	return string(append(path, end...))
}

// Kind says which node of a job's tree a path names.
type Kind uint8

// The kinds of nodes, named like the methods of [Tree] that build their paths.
const (
	KindRoot Kind = iota + 1
	KindConfig
	KindServer          // Key is the IP address
	KindInstance        // Key is the instance id
	KindInstanceTrigger // Key is the instance id
	KindItem
	KindItemInstance
	KindItemRunning
	KindItemFailover
	KindItemFailovering
	KindItemMisfire
	KindItemDisabled
	KindItemRecord
	KindItemNext
	KindItemAside
	KindLeader
	KindElectionLatch // Key is the contender's node
	KindNecessary
	KindProcessing
	KindEpoch
	KindTokens
	KindFailoverItem
	KindFailoverLeft  // Key is the instance id
	KindFailoverLatch // Key is the contender's node
	KindItemStarted
	KindItemCompleted
	KindStarted
	KindCompleted
	KindStartedHook
	KindCompletedHook
	KindSystemTime
	KindOffset
	KindTriggered
	KindOperated
	KindMove

	endOfKinds // follows the last one
)

// Kinds returns every kind of node, for tests that walk the whole tree.
func Kinds() []Kind {
	var all []Kind
	for k := KindRoot; k < endOfKinds; k++ {
		all = append(all, k)
	}
	return all
}

// Name is a path, taken apart.
type Name struct {
	Job  string
	Kind Kind
	Key  string // of the kinds that have one
	Item int    // of the kinds that are about an item
}

// Parse takes the path of a node apart. It answers false for every path that no method of [Tree]
// builds and for folders that hold no value. Item numbers must be plain: "01", "+1" and numbers of
// more than nine digits are no items. Parse does not allocate: a Name holds parts of the path.
func Parse(path string) (Name, bool) {
	if !strings.HasPrefix(path, "/") {
		return Name{}, false
	}
	job, node := path[1:], ""
	if end := strings.IndexByte(job, '/'); end >= 0 {
		job, node = job[:end], job[end:]
	}
	name := Name{Job: job}
	if job == "" || !name.locate(node) {
		return Name{}, false
	}
	return name, true
}

// Path returns the path that a name was taken from; empty for a kind that there is not. It is for those
// who walk the kinds: to name a node, ask [Tree].
func (n Name) Path() string {
	root := "/" + n.Job
	for node, kind := range singles {
		if kind == n.Kind {
			return root + node
		}
	}
	for end, kind := range itemEnds {
		if kind == n.Kind {
			return For(n.Job).Item(n.Item) + end
		}
	}
	for _, f := range folders {
		switch {
		case f.kind == n.Kind && f.ofItems:
			return root + f.path + "/" + strconv.Itoa(n.Item)
		case f.kind == n.Kind:
			return root + f.path + "/" + n.Key
		}
	}
	return ""
}

// locate sets what the part of a path behind the job says, and tells whether it names a node.
func (n *Name) locate(node string) bool {
	if kind, ok := singles[node]; ok {
		n.Kind = kind
		return true
	}
	if rest, ok := below(node, folderSharding); ok {
		return n.locateItem(rest)
	}
	for _, f := range folders {
		if key, ok := below(node, f.path); ok {
			return n.locateIn(f, key)
		}
	}
	return false
}

// locateItem reads "<item>" or "<item>/<end>".
func (n *Name) locateItem(rest string) bool {
	number, end := rest, ""
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		number, end = rest[:slash], rest[slash:]
	}
	item, plain := parseItem(number)
	kind, known := itemEnds[end]
	n.Item, n.Kind = item, kind
	return plain && known
}

func (n *Name) locateIn(f folder, key string) (ok bool) {
	n.Kind = f.kind
	if f.ofItems {
		n.Item, ok = parseItem(key)
		return ok
	}
	n.Key = key
	return key != "" && !strings.Contains(key, "/")
}

// below returns what follows the folder and a slash.
func below(node, folder string) (string, bool) {
	if len(node) <= len(folder) || node[len(folder)] != '/' || node[:len(folder)] != folder {
		return "", false
	}
	return node[len(folder)+1:], true
}

// parseItem reads a plain decimal number of at most nine digits.
func parseItem(text string) (int, bool) {
	if text == "" || len(text) > 9 || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	item := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		item = 10*item + int(c-'0')
	}
	return item, true
}

// singles are the nodes that a job has once.
var singles = map[string]Kind{
	"":             KindRoot,
	nodeConfig:     KindConfig,
	nodeLeader:     KindLeader,
	nodeNecessary:  KindNecessary,
	nodeProcessing: KindProcessing,
	nodeEpoch:      KindEpoch,
	nodeTokens:     KindTokens,
	nodeTriggered:  KindTriggered,
	nodeOperated:   KindOperated,
	nodeMove:       KindMove,
	nodeSystemTime: KindSystemTime,

	folderStarted:     KindStarted,
	folderCompleted:   KindCompleted,
	nodeStartedHook:   KindStartedHook,
	nodeCompletedHook: KindCompletedHook,
}

// itemEnds are the nodes of an item, by what follows its number.
var itemEnds = map[string]Kind{
	"":           KindItem,
	itemInstance: KindItemInstance,
	itemRunning:  KindItemRunning,
	itemFailover: KindItemFailover,
	itemClaimed:  KindItemFailovering,
	itemMisfire:  KindItemMisfire,
	itemDisabled: KindItemDisabled,
	itemRecord:   KindItemRecord,
	itemNext:     KindItemNext,
	itemAside:    KindItemAside,
}

type folder struct {
	path    string
	kind    Kind
	ofItems bool
}

// folders hold nodes named by a key or by an item; the sharding folder has a level more.
var folders = []folder{
	{folderServers, KindServer, false},
	{folderInstances, KindInstance, false},
	{folderTrigger, KindInstanceTrigger, false},
	{folderElectionLatch, KindElectionLatch, false},
	{folderFailoverLatch, KindFailoverLatch, false},
	{folderFailoverLeft, KindFailoverLeft, false},
	{folderFailoverItems, KindFailoverItem, true},
	{folderStarted, KindItemStarted, true},
	{folderCompleted, KindItemCompleted, true},
	{folderOffset, KindOffset, true},
}
