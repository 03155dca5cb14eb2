// Package etcdserver starts etcd servers for tests, in a process of their own.
//
// It does what package registry/etcd/embedded does, and looks like it. But a test binary with the race
// detector would run an embedded server with the detector, too, which makes it five times as expensive;
// the program of this package is built without. A test that is about what goes on in the server uses
// the embedded one; all others use this package.
//
//	server, err := etcdserver.Start(t.Context(), etcdserver.WithFastTest())
//	reg, err := etcd.Open(t.Context(), etcd.Config{Endpoints: server.Endpoints()})
//
// One process has all members of a cluster. To kill a member is to kill the server in the process, not
// the process. The process ends with Close, and with the process of the test however that ends.
//
// The first test that starts a server builds the program with the go command, into the user's cache
// folder, while the others wait. It is linked again only when its sources have changed.
package etcdserver
