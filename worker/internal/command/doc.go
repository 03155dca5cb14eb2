// Package command runs the scripts of a worker: only those on its list, as its user, in their folder, with no more of
// the environment than is named, within the limits of a cgroup, and it leaves no process behind.
package command
