// Package simulation runs whole clusters in virtual time and breaks them. Package checker then judges what they
// did. It has tests only.
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
// Few seeds do everything. Most draw a few kinds of trouble and turn them up, so that those meet. In most of them the
// network holds up messages of one or two kinds, with a heavy tail, and what causes such messages happens again and again.
// While one is under way, something changes behind its back: its sender loses its session or its node, its item is disabled,
// the settings change, somebody joins or leaves. Copies of requests arrive late and out of order, the store stops, starts
// and is slow, operators are careless: they delete nodes of instances and leaders, remove the job, spoil its settings, and
// do any single deed of package careless to any node. Operators run items by hand, disable items, servers and the job, and
// ask processes to leave it. The store drops one session, or all at once. One transaction of a resharding moves four items
// at most here, so that jobs of a few more are resharded in parts.
//
// Some seeds are of a kind, whose circumstances seldom come together by chance: large reshardings, clocks that are off by
// more than they may be, jobs that a process may not follow or write to, missed fires that are made up to an age, claims
// that are slow, items that move while they miss fires, a store that takes fewer transactions than the job asks for,
// settings that bound executions (timeouts, retries, scope and limit of failover, the first and the last fire), code that makes
// room with work left when it is told to, settings
// that a process refuses though others can use them, code that waits for a hook of its round, executions without records,
// and operators who do all that package operate can: their messages are slow and get lost as well, copies of them arrive
// late, somebody changes what they are about meanwhile, and they go away in the middle. Seeds of a kind are drawn apart,
// so that a new kind leaves the other seeds as they are. The
// flag -simulation.kind leaves out all others; a seed that fails tells its kind.
//
// # How many
//
// Every run of the tests tries more than a thousand seeds. The race detector makes a seed five times dearer,
// so under it TestSimulation tries dozens, and TestThousandsOfSeeds has it try the others, and replay a few, in a
// test program without. On a machine that is busy with other things it begins no further seed after eighty
// seconds, and says how many it tried.
//
//	go test ./integration/simulation -run 'TestSimulation$' -simulation.seeds=100000 -simulation.first=5000 -timeout=0
//	go test ./integration/simulation -run 'TestSimulation$' -simulation.seed=42 -simulation.repeat=3
//
// The first tries many, the second replays one. A seed that fails is printed, with what was done to the
// cluster and with the command that replays it.
//
// # Replays
//
// A replay is exact: the same transcript, to the nanosecond and the byte, but for the random names of rounds, which are
// numbered instead, and for some of the seeds whose code waits for a hook, which lets all of it go in one instant.
// TestAReplayIsExact holds that for a few seeds, and a replay compares its tries. What the scheduler does by chance, it does
// by the clock (package chance). In which order Go's runtime lets goroutines go that are ready in one instant, and in which
// order a map yields what is in it, is chance, so nothing that matters happens in one instant or follows the order of a map:
// every process has a network delay of its own, every message of a process takes a few microseconds more by what it is about
// ([memory.WithSpread]), code does not end, and the driver does nothing, in the instants at which jobs fire.
//
// # What a seed can notice
//
// TestEachGuardIsNeeded tells for each guard of a transaction the story that goes wrong without it.
// Those stories need a slow message at the right moment. TestPower leaves the same guards out, and those of operators,
// and counts the seeds that notice it by chance:
//
//	go test ./integration/simulation -run 'TestPower$' -simulation.power=250 -v -timeout=0
//
// The power of the seeds is held against six mends, too: TestPower takes each back, by a registry that does
// not carry out what the code before it did not send, or opens no view again. The number of the first seed that
// noticed, with -simulation.first=1, 100001 and 200001 and -simulation.power=2000. A run of the tests tries 1,200, which is
// twice as many as the last of the guards asks for:
//
//	begin/item not disabled                                  61   23   51
//	begin/config unchanged                                    3    3    8
//	begin/my instance is there                              129    3    8
//	begin/item still mine                                    23   11   55
//	begin/no other owner in parts                           115  106  256
//	begin/the parts not in force                            435   17  102
//	begin/record unchanged                                   62    6   12
//	begin/the request is asked for                          142  153  159
//	end/the mark is this execution's                          1   15    5
//	declare lost/record unchanged                             3   10   12
//	declare lost/no mark                                      3   10   12
//	claim/item not disabled                                  20   19   16
//	claim/server unchanged                                   65   20   14
//	claim/config unchanged                                  344   59   16
//	claim/my instance is there                                3  117  514
//	claim/record, item or epoch unchanged                   196   19   12
//	claim/epoch, item or config unchanged                   251   59   16
//	reshard/necessary unchanged                               3   39   12
//	reshard/config unchanged                                 30   21    1
//	reshard/the members live                                  1   20    4
//	reshard/I lead                                           59    3   37
//	elect/server unchanged                                   65  208   72
//	elect/my instance is there                              220   57    1
//	elect/config unchanged                                  285  210  213
//	join/there is a job                                     140  110   28
//	operate/request unchanged                                36   72   32
//	before the mend of checkpoints that went back            29   15   94
//	before the mend of missed fires lost in a move          379  608  163
//	before the mend of ends that outlive their session      169   57  184
//	before the mend of what a careless hand leaves behind    14   26   60
//	before the mend of views that end                        13   33   46
//	before the mend of wrong clocks that keep their items    10    5    1
//
// The guards of operators, that a node is as it was when they decided, with -simulation.kind=operators and
// -simulation.power=1200, which counts the seeds of other kinds, and does not run them:
//
//	operation/operated unchanged                             14  143   15
//	operation/config unchanged                               83  206  508
//	operation/item disabled unchanged                        14    7   19
//	operation/triggered unchanged                           259  206  144
//	operation/server unchanged                               83    7   70
//	operation/instance unchanged                              8  206  878
//	operation/record unchanged                               48  238  447
//
// A seed notices a guard by chance only, and how often depends on what the seeds are like; their stories
// are what holds all of them. Measure anew before a figure is quoted.
package simulation
