// Package console is the web console: an HTTP API, pages and a live stream over the jobs of some namespaces.
//
//	server, err := console.New(ctx, console.Config{
//		Namespaces: []console.Namespace{{Name: "shop", Registry: reg}},
//		Access:     access.Config{UsersFile: "users.yaml"},
//	})
//	listener, err := net.Listen("tcp", "127.0.0.1:8080")
//	err = server.Serve(ctx, listener, nil) // until ctx ends
//
// Its parts are packages of their own, and know each other as little as they can:
//
//	access  who somebody is, and what they may do
//	api     what can be asked and done, over package operate; wire is what goes over the line, client the other end
//	live    follows each namespace, with one view for all readers, and tells them what is new
//	web     the pages
//
// A server keeps nothing: any number of them may stand before the same registry. It holds no session in the
// registry, takes part in no job, and what it shows or does needs no scheduler in its process.
//
// Without users, a provider or a trusted proxy everybody who reaches the server may do everything. So Serve then takes a
// listener on loopback only.
package console
