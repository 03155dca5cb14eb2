// Package simulation runs whole clusters in virtual time, breaks them, and has package history judge
// what they did. It has tests only.
//
// A run is made from a seed: instances and items, how long items take and what they save, how far clocks
// are off, what the job makes of missed fires, and what is done to processes, network, store and settings,
// and when. First things go wrong for ten to twenty fires; then it is calm for a while, so that what the
// cluster should have recovered to can be judged; then all processes stop. A job fires every five
// seconds in a quarter of the runs, and every minute, five or ten minutes in the others, which then take
// hours: an idle stretch costs nothing but keep-alives, and sessions last as long as a job rests. Some
// troubles last as long as messages take, and others as long as sessions, whichever the pace is.
//
// # What goes wrong
//
// Few seeds do everything. Most draw a few kinds of trouble and turn them up, so that those meet: for most
// of them, messages of one or two kinds are held up, with a heavy tail; what brings such messages about is
// done again and again; and while one is under way, something changes that it has not reckoned with:
// its sender loses its session or its node, its item is disabled, the settings change, somebody joins
// or leaves. Copies of requests arrive late and out of order, the store stops, starts and is slow, operators
// are careless: they delete nodes of instances and leaders, remove the job, and spoil its settings. One seed
// in fifty has so many items that a change of members moves more of them than a transaction may.
//
// # How many
//
// Every run of the tests tries thousands of seeds. The race detector makes a seed five times dearer,
// so under it TestSimulation tries dozens, and TestThousandsOfSeeds has it try the thousands in a test
// program without. On a machine that is busy with other things it begins no further seed after two
// minutes, and says how many it tried.
//
//	go test ./integration/simulation -run 'TestSimulation$' -simulation.seeds=100000 -simulation.first=5000 -timeout=0
//	go test ./integration/simulation -run 'TestSimulation$' -simulation.seed=42 -simulation.repeat=3
//
// The first tries many, the second replays one. A seed that fails is printed, with what was done to the
// cluster and with the command that replays it.
//
// # Replays
//
// A replay is exact: the same transcript, to the nanosecond and the byte, but for the random names of
// rounds, which are numbered instead. TestAReplayIsExact holds that for a few seeds, and a replay
// compares its tries. In which order Go's runtime lets goroutines go that are ready in one instant is
// chance, so nothing that matters happens in one: every process has a network delay of its own, every
// message of a process takes a few microseconds more by what it is about ([memory.WithSpread]), and the
// driver keeps off the instants at which jobs fire.
//
// # What a seed can notice
//
// TestEachGuardIsNeeded tells for each guard of a transaction the story that goes wrong without it.
// Those stories need a slow message at the right moment. TestPower leaves the same guards out and
// counts the seeds that notice it by chance:
//
//	go test ./integration/simulation -run 'TestPower$' -simulation.power=250 -v -timeout=0
//
// A seed notices a guard by chance only, and how often depends on what the seeds are like; their stories
// are what holds all of them. Measure anew before a figure is quoted.
package simulation
