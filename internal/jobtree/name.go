package jobtree

import (
	"strconv"
	"strings"
)

// Kind says which node of a job's tree a path names.
type Kind uint8

// The kinds of nodes, named like the methods of [Tree] that build their paths.
const (
	KindRoot Kind = iota + 1
	KindConfig
	KindServer   // Key is the IP address
	KindInstance // Key is the instance id
	KindItem
	KindItemInstance
	KindItemRunning
	KindItemFailover
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

// singles are the nodes of which a job has one.
var singles = map[string]Kind{
	"":             KindRoot,
	nodeConfig:     KindConfig,
	nodeLeader:     KindLeader,
	nodeNecessary:  KindNecessary,
	nodeProcessing: KindProcessing,
	nodeEpoch:      KindEpoch,
	nodeTokens:     KindTokens,
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
	{folderElectionLatch, KindElectionLatch, false},
	{folderFailoverLatch, KindFailoverLatch, false},
	{folderFailoverLeft, KindFailoverLeft, false},
	{folderFailoverItems, KindFailoverItem, true},
	{folderStarted, KindItemStarted, true},
	{folderCompleted, KindItemCompleted, true},
	{folderOffset, KindOffset, true},
}
