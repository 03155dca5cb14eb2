// Package embedded runs an etcd server, or a small cluster of them, inside the process.
//
//	server, err := embedded.Start(ctx)
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	reg, err := etcd.Open(ctx, etcd.Config{Endpoints: server.Endpoints(), Namespace: "shop"})
//
// It is for demonstrations, examples and tests, and for trying Elasticron without installing anything. A server listens on
// loopback only, or where its clients must have certificates, keeps its data in a folder that the caller names or in a
// temporary one, compacts its history by itself and stops at once, whoever is still connected (within seconds if some have
// said nothing yet).
//
// It is no way to run a production store for several machines: one process that dies takes the server with it, and a
// server in the same process competes with the program for its processors. A worker that is to be the cron of one
// machine may run on it. It is a package of its
// own because the server more than doubles what a program links; nothing but commands, examples and
// tests should import it.
package embedded
