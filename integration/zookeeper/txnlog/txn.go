package txnlog

import (
	"fmt"
	"time"
)

// Txn is one transaction that the server carried out.
type Txn struct {
	Zxid    int64
	Session int64     // of the client
	Time    time.Time // when the server took the request up, by its clock, to the millisecond
	Opened  bool      // the session began
	Closed  bool      // the session ended; Ops delete its nodes
	Ops     []Op      // what changed; none of a request that was refused
}

// Kind says what an [Op] does.
type Kind uint8

// The kinds of operations.
const (
	Create Kind = iota + 1
	Delete
	Set
)

// Op is one change of a transaction.
type Op struct {
	Kind      Kind
	Path      string
	Data      []byte // of Create and Set
	Ephemeral bool   // of Create: the node is the session's
}

// ZooKeeper's numbers of what a transaction can be.
const (
	opError        = -1
	opCloseSession = -11
	opNewSession   = -10
	opCreate       = 1
	opDelete       = 2
	opSetData      = 5
	opSetACL       = 7
	opCheck        = 13
	opMulti        = 14
	opCreate2      = 15
)

// parse reads an entry. What follows the transaction, a digest of the whole store, is left out.
func parse(entry []byte) (Txn, error) {
	d := &decoder{rest: entry}
	txn := Txn{Session: d.long()}
	d.int() // the client's number of the request
	txn.Zxid, txn.Time = d.long(), time.UnixMilli(d.long())
	var err error
	switch kind := d.int(); kind {
	case opNewSession:
		txn.Opened = true
	case opCloseSession:
		txn.Closed = true
		for range d.int() {
			txn.Ops = append(txn.Ops, Op{Kind: Delete, Path: d.text()})
		}
	case opMulti:
		txn.Ops, err = d.multi()
	default:
		txn.Ops, _, err = d.op(kind)
	}
	if err == nil && d.short {
		err = fmt.Errorf("transaction %#x is cut off", txn.Zxid)
	}
	return txn, err
}

// multi reads the operations of a multi. One that was refused is logged, with an error among them.
func (d *decoder) multi() ([]Op, error) {
	var all []Op
	done := true
	for range d.int() {
		kind := d.int()
		part := &decoder{rest: d.bytes()}
		ops, did, err := part.op(kind)
		if err != nil {
			return nil, err
		}
		d.short = d.short || part.short
		done = done && did
		all = append(all, ops...)
	}
	if !done {
		return nil, nil
	}
	return all, nil
}

// op reads an operation, and tells whether it was done.
func (d *decoder) op(kind int32) (ops []Op, done bool, err error) {
	switch kind {
	case opCreate, opCreate2:
		op := Op{Kind: Create, Path: d.text(), Data: d.bytes()}
		for range d.int() { // who may do what
			d.int()
			d.text()
			d.text()
		}
		op.Ephemeral = d.bool()
		return []Op{op}, true, nil
	case opDelete:
		return []Op{{Kind: Delete, Path: d.text()}}, true, nil
	case opSetData:
		return []Op{{Kind: Set, Path: d.text(), Data: d.bytes()}}, true, nil
	case opSetACL, opCheck:
		return nil, true, nil
	case opError:
		return nil, false, nil
	default:
		return nil, false, fmt.Errorf("an operation of kind %d is not known", kind)
	}
}
