// Package simulation runs whole clusters in virtual time, breaks them, and has package history judge
// what they did. It has tests only.
//
// A run is made from a seed: instances and items, how long items take, and what is done to processes,
// network, store and settings, and when. First everything goes wrong for some minutes of virtual time;
// then it is calm for a while, so that what the cluster should have recovered to can be judged; then
// all processes stop.
//
//	go test ./integration/simulation -run TestSimulation -simulation.seeds=500
//	go test ./integration/simulation -run TestSimulation -simulation.seed=42 -simulation.repeat=20
//
// The first tries many seeds, the second replays one. A replay does the same things at the same
// virtual times, and every process has a network delay of its own so that few things fall into one
// instant. But in which order goroutines go that are ready in one instant is up to Go's runtime, so a
// replay should be repeated, and is more alike with GOMAXPROCS=1.
//
// A synctest bubble has one clock, so clocks that differ are not simulated here.
package simulation
