// Package jobtree knows the registry nodes of a job: their names, what their values mean, and what a
// job's tree says as a whole. No other package joins paths or reads values.
//
// # The tree
//
// Everything known of a job lies below "/<job>". It is the tree of Elastic-Job-Lite 2.1.5, which Java
// instances share, and nodes of our own: record, next, unreadable, epoch, tokens, move, left, triggered,
// operated and the barriers.
//
//	config                        the job's configuration, JSON
//	triggered                     the last request to run items by hand, JSON
//	operated                      what operators did last, JSON; not for instances
//	servers/<ip>                  "" or DISABLED
//	instances/<id>                a live instance (ephemeral): "", TRIGGER or SHUTDOWN
//	trigger/<id>                  asks an instance to run its items, in ElasticJob 3.x
//	sharding/<item>/instance      the instance that the item is assigned to
//	sharding/<item>/running       an execution (ephemeral)
//	sharding/<item>/failover      a claim (ephemeral): id of the claimant
//	sharding/<item>/failovering   the same, beside ElasticJob 3.x: it outlives the claimant
//	sharding/<item>/misfire       missed fires, JSON; empty from Java: some, and not which
//	sharding/<item>/disabled      an operator excluded the item
//	sharding/<item>/record        what is known of the item's executions, JSON
//	sharding/<item>/next          its owner in an assignment that is still being written, JSON
//	sharding/<item>/unreadable    a record that could not be read, for an operator to look at
//	leader/election/instance      the leader (ephemeral): its instance id
//	leader/election/latch/*       contenders
//	leader/sharding/necessary     somebody asks for a resharding
//	leader/sharding/processing    a Java leader reshards (ephemeral)
//	leader/sharding/epoch         number and size of the assignment in force, JSON
//	leader/tokens                 what is added to fencing tokens, JSON; mostly absent
//	leader/move                   how far a move of the job by elasticron migrate is, JSON
//	leader/failover/items/<item>  a lost execution waits for a claimant
//	leader/failover/latch/*       contenders
//	leader/failover/left/<id>     an instance left by its own will
//	guarantee/started             the barrier before a round, JSON
//	guarantee/started-hook        its hook runs (ephemeral)
//	guarantee/started/<item>      an item arrived at Java's barrier before a round
//	guarantee/completed           the barrier after a round, JSON
//	guarantee/completed-hook      its hook runs (ephemeral)
//	guarantee/completed/<item>    an item arrived at Java's barrier after a round
//	offset/<item>                 the item's checkpoint, a text of the job's own, as in Elastic-Job 1.x
//	systemTime/current            what Java instances touch to learn the registry's clock
//
// Where instances of ElasticJob 3.x share the job, some nodes are written in other words: see [Layout].
//
// # How to use it
//
// [For] gives the paths of a job and [Parse] reads a path back. The functions named Encode and Decode
// turn values into text and back; a fault is a [*ValueError], which names path, field and value.
// [Record] holds the rules of when an item may run: its methods [Record.Begin], [Record.End],
// [Record.DeclareLost], [Record.Claim] and [Record.Undo] are pure functions from what was read to
// what is to be written. [State] is a job's tree in typed form; it follows a registry view at a cost
// that depends on what changed, not on the size of the job.
//
// # What it does not do
//
// It does no I/O. A record or a path that it returns takes effect only when somebody commits it in a
// transaction that is guarded by what it was made from.
package jobtree
