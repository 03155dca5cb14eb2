// Package dump helps people who look for a fault: it shows a job's tree in the registry, and what a process sees
// of this tree. It answers on a TCP port, as text in the format of Elastic-Job-Lite's monitor port, or as JSON.
//
//	server, err := dump.Listen(s, "127.0.0.1:9888", dump.WithJob("orders"))
//	err = server.Serve(ctx) // until ctx ends
//
//	$ echo dump@orders | nc 127.0.0.1 9888
//
// # What it answers
//
// A client sends one line and gets one answer; then the server closes the connection. In the word before "@",
// upper and lower case are the same.
//
//	dump         the job given by [WithJob], or the only one there is (2.x)
//	dump@<job>   that job (3.x)
//	json, json@<job>   the same as JSON
//
// On any other line, the server closes the connection without an answer. The text has a line for each node
// below the job, depth first, children in descending order, including folders:
//
//	path | value                          the registry and this process agree
//	path | value | path seen | value seen they differ; the last two are empty if this process sees nothing
//
// # What it hides
//
// Each IPv4 address becomes ip1, ip2 and so on, in the order in which the addresses first occur; see
// [WithAddresses]. Parameters, commands, settings that are named like secrets, error texts and checkpoints
// become ***; the names of members and settings decide this. See [WithSecrets].
//
// # What it does not do
//
// It does not authenticate clients. So it listens only on loopback addresses, unless you give [WithAnyAddress]:
// then everyone who reaches the port can read the job's tree.
package dump
