// Package policy knows what happens to a job's fires once they have come: which are [Due] for an item,
// which were missed, by which [Policy] missed ones are made up, and by which rules some are dropped. A
// [Witness] remembers what a process's clock ticked, so that an item that comes to the process can make up
// what it missed elsewhere. [Rules] put that together for a job.
//
// All of it is pure: it does no I/O, and its callers tell it the time.
package policy
