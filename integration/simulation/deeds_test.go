package simulation_test

// deed is a kind of things that are done to a cluster.
type deed uint8

const (
	launch deed = iota
	crash
	stop
	cut
	pause
	slow
	crawl
	expire
	loseAnswers
	breakWatch
	setClock
	storeDown
	forgetHistory
	changeTotal
	changeCron
	toggleFailover
	toggleMisfire
	changeParameter
	toggleItem
	toggleServer
	runByHand
)

// allDeeds are the deeds by their weight and name.
var allDeeds = []deed{
	launch, crash, stop, cut, pause, slow, crawl, expire, loseAnswers, breakWatch, setClock, storeDown, forgetHistory,
	changeTotal, changeCron, toggleFailover, toggleMisfire, changeParameter, toggleItem, toggleServer, runByHand,
}

var deedNames = [...]string{
	"launch", "crash", "stop", "cut off", "pause", "slow down", "slow down a lot", "drop the session", "lose answers",
	"break the watch", "set the clock", "take the store down", "forget the history", "change the total", "change the cron",
	"toggle failover", "toggle misfire", "change the parameter", "toggle an item", "toggle a server", "run by hand",
}

var deedWeights = [...]int{16, 6, 5, 6, 5, 3, 5, 3, 4, 2, 2, 1, 1, 3, 1, 1, 1, 1, 2, 1, 3}

func (d deed) String() string { return deedNames[d] }
func (d deed) weight() int    { return deedWeights[d] }
