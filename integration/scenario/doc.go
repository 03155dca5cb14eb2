// Package scenario plays short stories of failure over real stores, in real time: the same ones over
// etcd and over ZooKeeper. It has tests only. Package simulation tells many more of them, in virtual
// time over a store that is not real; these hold that a real one makes no difference.
//
// A story knows its store by [registrytest.Store] alone: it opens participants, cuts them off, has them
// vanish, restarts the store. A store joins in by one line in the table of TestScenarios. Stories wait
// for what should happen, for as long as a slow machine may need, and never for a duration.
package scenario
