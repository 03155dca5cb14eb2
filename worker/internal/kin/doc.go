// Package kin knows what this process has started and what its children have left behind.
//
// Orphans come to this process instead of to the machine's init, so it can end those of a run, and it buries what has
// ended: as the first process of a container it would have to anyway. That a process belongs to a run is told by a
// variable of its environment, which it inherits, and which one that hides on purpose can drop; a cgroup cannot be
// dropped.
package kin
