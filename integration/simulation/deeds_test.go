package simulation_test

// deed is a kind of things that are done to a cluster.
type deed uint8

const (
	// To processes, their network and their clocks.
	launch deed = iota
	crash
	stop
	cut
	pause
	slow
	crawl
	expire
	loseAnswers
	holdBack
	copyLater
	breakWatch
	setClock
	missetClock
	deny
	// To the store.
	storeDown
	slowStore
	forgetHistory
	expireAll
	// By operators, who know what they do.
	changeTotal
	changeCron
	toggleFailover
	changeMisfire
	changeParameter
	toggleItem
	toggleServer
	runByHand
	// By operators who do not.
	forgetInstance
	forgetLeader
	askForResharding
	removeJob
	spoilConfig
	meddle
	// By operators with package operate, see [desk].
	opTrigger
	opBackfill
	opJob
	opItem
	opServer
	opSettings
	opRollBack
	opRemove
	opGiveUp
	opReshard
	opTidy
	opShutDown
	// By somebody else, to what an operation is about that is under way.
	contradict
	// By operators who know what they do, in seeds that are about it.
	changeJitter
	changeLimits
	toggleRecords
	// To one process after the other in the same place, in seeds that are about it.
	crashLoop

	deeds
)

var deedNames = [deeds]string{
	"launch", "crash", "stop", "cut off", "pause", "slow down", "slow down a lot", "drop the session", "lose answers",
	"hold requests back", "copy requests and hold the copies back", "break the watch", "set the clock",
	"set the clock wrong", "deny the job",
	"take the store down", "slow the store down", "forget the history", "drop all sessions",
	"change the total", "change the cron", "toggle failover", "change the misfire policy", "change the parameter",
	"toggle an item", "toggle a server", "run by hand",
	"delete an instance's node", "delete the leader's node", "ask for a resharding", "remove the job", "spoil the settings", "meddle with a node",
	"operate: trigger", "operate: backfill", "operate: disable the job", "operate: disable or enable an item", "operate: disable or enable a server",
	"operate: change settings", "operate: roll back", "operate: remove and create", "operate: give up", "operate: reshard", "operate: tidy", "operate: shut down",
	"change what an operation is about",
	"change the jitter", "change what bounds executions", "toggle records", "crash again and again",
}

func (d deed) String() string { return deedNames[d] }

// onCluster tells of a deed whether it is not meant for one process.
func (d deed) onCluster() bool { return d >= storeDown && d != forgetInstance }

// byOperator tells of a deed whether it takes a store that can be reached.
func (d deed) byOperator() bool { return d >= changeTotal }

// changes are the deeds after which the registry says something else than when a message was sent.
var changes = []deed{
	launch, launch, crash, stop, expire, changeTotal, toggleFailover, changeParameter, toggleItem, toggleServer, runByHand,
	forgetInstance, forgetLeader, removeJob, meddle,
}

// causes are the deeds that bring about a kind of transactions; nil for those that every fire does.
func causes(s step) []deed {
	switch s {
	case join:
		return []deed{launch, forgetInstance, expire}
	case elect:
		return []deed{crash, stop, forgetLeader, expire}
	case reshard:
		return []deed{launch, stop, crash, changeTotal, toggleServer}
	case end, declare, claim:
		return []deed{crash, crash, expire, pause, cut}
	case acknowledge:
		return []deed{runByHand}
	default:
		return nil
	}
}

// allDeeds returns every deed that any seed may do.
func allDeeds() []deed {
	var all []deed
	for d := range deeds {
		if d != missetClock && d != deny && d < opTrigger { // in seeds of its own
			all = append(all, d)
		}
	}
	return all
}

// operations are the deeds of operators with package operate.
func operations() []deed {
	var all []deed
	for d := opTrigger; d <= opShutDown; d++ {
		all = append(all, d)
	}
	return all
}
