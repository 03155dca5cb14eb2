// Package dump shows what the registry has of a job, and what a process sees of it, to people who look
// for a fault: as text on a TCP port, in the format of Elastic-Job-Lite's monitor port, and as JSON.
//
//	server, err := dump.Listen(s, "127.0.0.1:9888", dump.WithJob("orders"))
//	err = server.Serve(ctx) // until ctx ends
//
//	$ echo dump@orders | nc 127.0.0.1 9888
//
// # What it answers
//
// A client sends one line and gets one answer; then the connection is closed. Upper and lower case are
// the same in the word before "@".
//
//	dump         the job given by [WithJob], or the only one there is (2.x)
//	dump@<job>   that job (3.x)
//	json, json@<job>   the same as JSON
//
// Everything else closes the connection without an answer. The text has a line for each node below the
// job, depth first, children in descending order, folders included:
//
//	path | value                          the registry and this process agree
//	path | value | path seen | value seen they do not; both are empty if nothing is seen
//
// # What it hides
//
// IPv4 addresses become ip1, ip2 and so on, by the whole address, in order of first sight; see
// [WithAddresses]. Parameters, commands, settings that are named like secrets, error texts and checkpoints
// become ***, as the names of members and settings say; see [WithSecrets].
//
// # What it does not do
//
// It asks nobody who they are. It listens on loopback addresses only, unless [WithAnyAddress] is given:
// then whoever reaches the port reads the job's tree.
package dump
