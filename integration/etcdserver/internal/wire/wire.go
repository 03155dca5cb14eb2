// Package wire defines what a test says to the process of its etcd servers. Arguments give the process its role and
// its settings as JSON; then the test calls a cluster with package net/rpc, as lines of JSON on its standard input
// and output.
package wire

import "time"

// The roles of the process.
const (
	RoleCluster = "cluster" // a [Cluster], until its standard input ends
	RoleMember  = "member"  // one member of a cluster that the test puts together from processes
)

// Cluster describes the servers of a process.
type Cluster struct {
	Members           int // 0 = one server that is no cluster
	FastTest          bool
	Heartbeat         time.Duration // 0, and so for what follows, is the default
	Election          time.Duration
	Quota             int64
	Retention         *time.Duration
	MaxTxnOps         int
	CertFile, KeyFile string
	ClientCA          string
	SeparateHTTP      bool
}

// Service is the name of what the process serves, and the prefix of its methods.
const Service = "Servers"

// The methods, each for a [Call].
const (
	Endpoints  = Service + ".Endpoints"  // of all members, as a []string
	Stop       = Service + ".Stop"       // a member
	Kill       = Service + ".Kill"       // a member
	Restart    = Service + ".Restart"    // a member
	RestartAll = Service + ".RestartAll" // those that do not run
	Leader     = Service + ".Leader"     // the number of the member, as an int
	Cancel     = Service + ".Cancel"     // the context of the call with this id
)

// Call is the argument of all methods.
type Call struct {
	ID     int64 // what Cancel calls it
	Member int   // which one, from 0
}

// Nothing is the result of methods that have none.
type Nothing struct{}

// Ready is what a member prints when it serves.
const Ready = "ready"

// Member describes a process that is one member of a cluster.
type Member struct {
	Name, Dir    string
	Client, Peer string // addresses, "host:port"
	Advertised   string // of Peer, as the other members know it
	Cluster      string // all members, as etcd wants them: name=peer,name=peer
	// PeerTimeout is for how long it keeps the connection of another member that says nothing; 0 is etcd's
	// own 5 s. With the connection it would lose what is held up there.
	PeerTimeout time.Duration
	// Election is for how long it does without word of a leader until it wants to be one; 0 is half a second.
	Election time.Duration
}
