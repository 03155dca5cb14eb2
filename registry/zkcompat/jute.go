package zkcompat

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// Kinds of operations, alone or in a multi.
const (
	opError     = -1
	opCreate    = 1
	opDelete    = 2
	opGetData   = 4
	opSetData   = 5
	opChildren  = 8
	opCheck     = 13
	opMulti     = 14
	opMultiRead = 22
)

// headerSize is what stands before the body of a request: its length, its number, and its kind.
const headerSize = 12

// errShape tells of an answer that is not what it should be.
var errShape = errors.New("the server sent an answer that cannot be read")

// frame is a request in the making. Its header is left open.
type frame []byte

func newFrame(room int) frame { return make(frame, headerSize, headerSize+room) }

// fill fills in the header of a frame that is complete.
func (f frame) fill(number, kind int32) {
	binary.BigEndian.PutUint32(f, uint32(len(f)-4))
	binary.BigEndian.PutUint32(f[4:], uint32(number))
	binary.BigEndian.PutUint32(f[8:], uint32(kind))
}

func (f *frame) int(n int32) { *f = binary.BigEndian.AppendUint32(*f, uint32(n)) }

func (f *frame) text(s string) {
	f.int(int32(len(s)))
	*f = append(*f, s...)
}

// part begins an operation of a multi, or ends the multi.
func (f *frame) part(kind int32, last bool) {
	f.int(kind)
	done := byte(0)
	if last {
		done = 1
	}
	*f = append(*f, done)
	f.int(-1)
}

// operation adds an operation of a multi.
func (f *frame) operation(op any) {
	switch op := op.(type) {
	case *zk.CreateRequest:
		f.part(opCreate, false)
		f.text(op.Path)
		f.int(int32(len(op.Data)))
		*f = append(*f, op.Data...)
		f.int(int32(len(op.Acl)))
		for _, a := range op.Acl {
			f.int(a.Perms)
			f.text(a.Scheme)
			f.text(a.ID)
		}
		f.int(op.Flags)
	case *zk.DeleteRequest:
		f.part(opDelete, false)
		f.text(op.Path)
		f.int(op.Version)
	case *zk.SetDataRequest:
		f.part(opSetData, false)
		f.text(op.Path)
		f.int(int32(len(op.Data)))
		*f = append(*f, op.Data...)
		f.int(op.Version)
	case *zk.CheckVersionRequest:
		f.part(opCheck, false)
		f.text(op.Path)
		f.int(op.Version)
	default:
		panic(fmt.Sprintf("zkcompat: operation of the unknown type %T", op))
	}
}

// end closes a multi.
func (f *frame) end() { f.part(-1, true) }

// multiRequest returns the frame of a multi.
func multiRequest(ops []any, size int) frame {
	f := newFrame(size)
	for _, op := range ops {
		f.operation(op)
	}
	f.end()
	return f
}

// readRequest returns the frame that reads what znodes hold, or the names of their children, all at one moment.
func readRequest(kind int32, paths []string) frame {
	f := newFrame(64 * len(paths))
	for _, path := range paths {
		f.part(kind, false)
		f.text(path)
		f = append(f, 0) // no watch
	}
	f.end()
	return f
}

// result is what became of an operation of a multi.
type result struct {
	code  int32 // of the error; 0 for none
	data  string
	stat  zk.Stat // of a setData or a getData
	names []string
}

// znode returns what was read of one.
func (r result) znode() (znode, error) {
	switch r.code {
	case 0:
		return znode{there: true, data: r.data, stat: r.stat}, nil
	case codeNoNode:
		return znode{}, nil
	default:
		return znode{}, errorOf(r.code)
	}
}

// results reads the answer to a multi of so many operations.
func results(body []byte, count int) ([]result, error) {
	r := reader{rest: body}
	all := make([]result, 0, count)
	for !r.bad {
		kind := r.int()
		done := r.byte()
		r.int()
		if done != 0 {
			break
		}
		var one result
		switch kind {
		case opError:
			one.code = r.int()
		case opCreate:
			r.text()
		case opDelete, opCheck:
		case opSetData:
			one.stat = r.stat()
		case opGetData:
			one.data = r.text()
			one.stat = r.stat()
		case opChildren:
			one.names = r.texts()
		default:
			r.bad = true
		}
		all = append(all, one)
	}
	if r.bad || len(all) != count {
		return nil, errShape
	}
	return all, nil
}

// reader takes an answer apart. Once it is bad, all that it reads is zero.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.bad = true
	}
	if r.bad {
		return nil
	}
	p := r.rest[:n]
	r.rest = r.rest[n:]
	return p
}

func (r *reader) byte() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) int() int32 {
	if p := r.take(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

func (r *reader) long() int64 {
	if p := r.take(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

func (r *reader) text() string { return string(r.take(int(max(0, r.int())))) } // -1 is nothing

func (r *reader) texts() (all []string) {
	for range r.int() {
		if all = append(all, r.text()); r.bad {
			break
		}
	}
	return all
}

func (r *reader) stat() zk.Stat {
	return zk.Stat{
		Czxid: r.long(), Mzxid: r.long(), Ctime: r.long(), Mtime: r.long(),
		Version: r.int(), Cversion: r.int(), Aversion: r.int(),
		EphemeralOwner: r.long(), DataLength: r.int(), NumChildren: r.int(), Pzxid: r.long(),
	}
}

// Codes of errors that an answer is looked through for.
const (
	codeInconsistent            = -2 // of an operation that was not tried, as one before it failed
	codeNoNode                  = -101
	codeNoChildrenForEphemerals = -108
)

// codes are the errors that the client has a name for.
var codes = map[int32]error{
	-8: zk.ErrBadArguments, codeNoNode: zk.ErrNoNode, -102: zk.ErrNoAuth, -103: zk.ErrBadVersion,
	codeNoChildrenForEphemerals: zk.ErrNoChildrenForEphemerals, -110: zk.ErrNodeExists, -111: zk.ErrNotEmpty, -112: zk.ErrSessionExpired,
	-114: zk.ErrInvalidACL, -115: zk.ErrAuthFailed, -118: zk.ErrSessionMoved,
}

// errorOf returns the error of a code; nil for 0.
func errorOf(code int32) error {
	if code == 0 {
		return nil
	}
	if err, ok := codes[code]; ok {
		return err
	}
	if err, ok := unnamed[code]; ok {
		return err
	}
	return fmt.Errorf("zk: error %d", code)
}
