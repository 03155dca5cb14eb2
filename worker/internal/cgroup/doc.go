// Package cgroup puts the processes of a run into a cgroup of their own: what they may take is bounded, and all of them
// can be ended, whatever sessions and process groups they have made for themselves. It knows cgroup v2 alone.
package cgroup
