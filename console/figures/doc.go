// Package figures tells Prometheus how a console does: what it is asked for and how long that takes, who reads along, and
// whether what it shows is as the registry has it. Jobs are not its affair: their metrics are those of the processes that
// run them.
package figures
