// Package txnlog reads the transaction log of a ZooKeeper server while the server writes it.
//
// The log has every transaction that the server ever carried out, whole and in order: more than any
// client can see, whom watches show states and not steps. A server answers a request only when the log
// has it, so what a client was told is there to be read.
//
//	log := txnlog.Open(server.LogFolder())
//	defer log.Close()
//	txn, err := log.Next() // io.EOF: nothing more yet
//
// It is for tests: the log is read on the machine of the server, and in the format of ZooKeeper 3.6 and
// later. It is the log of one server: what a server of an ensemble writes may still be taken back by
// the next leader, what a server that stands alone writes may not. Sequential nodes have their numbers
// already. What tests here do not need, as containers, nodes with a time to live and the parts of a
// znode beside its data, is left out or refused.
package txnlog
