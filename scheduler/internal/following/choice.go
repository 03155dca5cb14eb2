package following

import "time"

// Rule is how a process chooses what to follow.
type Rule int

// The rules.
const (
	Whole  Rule = iota // everything, always
	ByCost             // what costs less
	Own                // the own items, whatever it costs: as soon and as often as it is safe
)

const (
	// leastOthers is how many items of others there must be: for fewer, a second view costs more than it spares.
	leastOthers = 32
	// mostOwn is how many own items are followed by themselves.
	mostOwn = 32
	// ownShare: at most every fourth item may be an own one. If there are more, one view of all costs hardly more.
	ownShare = 4

	// calm is how long nothing may have moved, and calmAgain if the last time was brief: while a deployment replaces
	// instances one by one, to follow everything throughout costs less than to change over with each.
	calm      = 3 * time.Second
	calmAgain = 30 * time.Second
	calmOwn   = 50 * time.Millisecond // by the rule Own

	// Brief is up to when a time of following the own items was a brief one.
	Brief = 30 * time.Second
)

// Circumstances decide what a process that follows everything follows from now on.
type Circumstances struct {
	Rule   Rule
	Items  int           // of the job
	Own    int           // that it would follow
	Calm   time.Duration // for how long nothing has moved
	Brief  bool          // the last time it followed its own items alone was brief
	Needed bool          // it leads, or has another reason to know all items
	Spares bool          // the store would send less
}

// Small tells whether a job has so few items that every process follows all of them.
func (c Circumstances) Small() bool {
	return c.Rule == Whole || c.Rule == ByCost && c.Items < leastOthers || c.Items < 2
}

// Narrow tells whether to follow the own items alone from now on. If only too little time has passed for that, again is
// when to ask again.
func (c Circumstances) Narrow() (narrow bool, again time.Duration) {
	if c.Small() || c.Needed || c.Own >= c.Items {
		return false, 0
	}
	if c.Rule == ByCost && (!c.Spares || c.Items-c.Own < leastOthers || c.Own > mostOwn || c.Own*ownShare > c.Items) {
		return false, 0
	}
	if left := c.patience() - c.Calm; left > 0 {
		return false, left
	}
	return true, 0
}

func (c Circumstances) patience() time.Duration {
	switch {
	case c.Rule == Own:
		return calmOwn
	case c.Brief:
		return calmAgain
	default:
		return calm
	}
}
