// Package zookeeper starts real Apache ZooKeeper servers for tests.
//
// A server is a Java process of its own with a temporary folder and a free port of the loopback
// interface. A test kills it, freezes it, and starts it again over the same data and port. It is
// stopped by its process id, and dies with the process of the test however that ends (on Linux).
//
//	server := zookeeper.Start(t)                       // one server, gone with the test
//	reg, err := zkcompat.Open(t.Context(), zkcompat.Config{Servers: server.Addresses()})
//
// The jars come from Maven Central by package maven: a machine needs a JDK and Maven. Without them a
// test that calls [Start] or [Need] skips and says so; in CI it fails.
//
// Servers are made for tests: ticks are short, so that a session may last a second, and nothing is
// forced to the disk unless [WithForcedSync] asks. A server over which a test kills power is not one of
// them; SIGKILL loses nothing, because the system keeps what the server wrote.
package zookeeper
