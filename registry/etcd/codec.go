package etcd

import (
	"bytes"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// codec is gRPC's codec of protobuf messages, with a shorter way to read the two that a process gets for every
// execution: the answer to a request, and what a watch tells. It makes their parts from a few slices, and leaves out
// of an answer what each single put and delete came to, which nobody asks. protobuf makes each part by itself, and
// these were a quarter of all that an execution allocated. A message that has anything else in it, it leaves to gRPC's.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Name is empty, so that requests are labelled as they would be without a codec of ours.
func (codec) Name() string { return "" }

// Unmarshal implements [encoding.CodecV2].
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	answer, isAnswer := v.(*pb.TxnResponse)
	news, isNews := v.(*pb.WatchResponse)
	if !isAnswer && !isNews {
		return c.CodecV2.Unmarshal(data, v)
	}
	message := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer message.Free()
	if isAnswer && readAnswer(message.ReadOnlyData(), answer) || isNews && readNews(message.ReadOnlyData(), news) {
		return nil
	}
	return c.CodecV2.Unmarshal(data, v) // it forgets what was read
}

// The fields of etcd's messages: their numbers, and whether they are varints or have a length.
const (
	varint = uint64(protowire.VarintType)
	length = uint64(protowire.BytesType)

	clusterOfHeader  = 1<<3 | varint
	memberOfHeader   = 2<<3 | varint
	revisionOfHeader = 3<<3 | varint
	termOfHeader     = 4<<3 | varint

	headerOfAnswer    = 1<<3 | length
	succeededOfAnswer = 2<<3 | varint
	partOfAnswer      = 3<<3 | length
	putOfPart         = 2<<3 | length
	deleteOfPart      = 3<<3 | length
	answerOfPart      = 4<<3 | length

	headerOfNews   = 1<<3 | length
	watchOfNews    = 2<<3 | varint
	fragmentOfNews = 7<<3 | varint
	eventOfNews    = 11<<3 | length
	typeOfEvent    = 1<<3 | varint
	nodeOfEvent    = 2<<3 | length

	keyOfNode      = 1<<3 | length
	createdOfNode  = 2<<3 | varint
	modifiedOfNode = 3<<3 | varint
	versionOfNode  = 4<<3 | varint
	valueOfNode    = 5<<3 | length
	leaseOfNode    = 6<<3 | varint
)

// fields reads a message field by field.
type fields struct {
	rest   []byte
	tag    uint64
	number uint64 // of a varint
	bytes  []byte // of one that has a length
	broken bool
}

// next goes to the next field. It is false behind the last one, and at one that is neither a varint nor has a length.
func (f *fields) next() bool {
	if len(f.rest) == 0 {
		return false
	}
	tag, n := protowire.ConsumeVarint(f.rest)
	if n < 0 {
		f.broken = true
		return false
	}
	f.tag, f.rest = tag, f.rest[n:]
	switch tag & 7 {
	case varint:
		f.number, n = protowire.ConsumeVarint(f.rest)
	case length:
		f.bytes, n = protowire.ConsumeBytes(f.rest)
	default:
		n = -1
	}
	if f.broken = n < 0; f.broken {
		return false
	}
	f.rest = f.rest[n:]
	return true
}

// count returns how often a message has a field.
func count(message []byte, tag uint64) (n int) {
	for f := (fields{rest: message}); f.next(); {
		if f.tag == tag {
			n++
		}
	}
	return n
}

// answerReader has what the parts of an answer are made of.
type answerReader struct {
	answers slab[pb.TxnResponse]
	parts   slab[pb.ResponseOp]
	listed  slab[*pb.ResponseOp]
	nested  slab[pb.ResponseOp_ResponseTxn]
}

// readAnswer reads an answer without what single puts and deletes came to. It is false for one that it does not know all
// of, such as one with what was found.
func readAnswer(message []byte, to *pb.TxnResponse) bool {
	return new(answerReader).read(message, to, new(pb.ResponseHeader))
}

// read reads an answer. header is where its header goes; nil leaves it out, as that of a part says nothing.
func (r *answerReader) read(message []byte, to *pb.TxnResponse, header *pb.ResponseHeader) bool {
	to.Responses = r.listed.take(count(message, partOfAnswer))[:0]
	f := fields{rest: message}
	for f.next() {
		switch f.tag {
		case headerOfAnswer:
			if header == nil {
				continue
			}
			if to.Header = header; !readHeader(f.bytes, header) {
				return false
			}
		case succeededOfAnswer:
			to.Succeeded = protowire.DecodeBool(f.number)
		case partOfAnswer:
			part := r.readPart(f.bytes)
			if part == nil {
				return false
			}
			to.Responses = append(to.Responses, part)
		default:
			return false
		}
	}
	return !f.broken
}

// readPart reads a part of an answer; nil if it does not know it.
func (r *answerReader) readPart(message []byte) *pb.ResponseOp {
	f := fields{rest: message}
	if !f.next() || len(f.rest) > 0 {
		return nil
	}
	switch f.tag {
	case putOfPart, deleteOfPart:
		return deed
	case answerOfPart:
		part, is, answer := r.parts.one(), r.nested.one(), r.answers.one()
		is.ResponseTxn, part.Response = answer, is
		if r.read(f.bytes, answer, nil) {
			return part
		}
	}
	return nil
}

// deed is the part of an answer that a put or a delete has. It says nothing.
var deed = new(pb.ResponseOp)

func readHeader(message []byte, to *pb.ResponseHeader) bool {
	f := fields{rest: message}
	for f.next() {
		switch f.tag {
		case clusterOfHeader:
			to.ClusterId = f.number
		case memberOfHeader:
			to.MemberId = f.number
		case revisionOfHeader:
			to.Revision = int64(f.number)
		case termOfHeader:
			to.RaftTerm = f.number
		default:
			return false
		}
	}
	return !f.broken
}

// readNews reads what a watch tells. It is false for a message that it does not know all of, such as that a watch has
// begun or come to its end.
func readNews(message []byte, to *pb.WatchResponse) bool {
	n := count(message, eventOfNews)
	events, nodes := make([]mvccpb.Event, n), make([]mvccpb.KeyValue, n)
	header := new(pb.ResponseHeader)
	to.Events = make([]*mvccpb.Event, 0, n)
	f := fields{rest: bytes.Clone(message)} // of which keys and values are parts
	for f.next() {
		switch f.tag {
		case headerOfNews:
			if to.Header = header; !readHeader(f.bytes, header) {
				return false
			}
		case watchOfNews:
			to.WatchId = int64(f.number)
		case fragmentOfNews:
			to.Fragment = protowire.DecodeBool(f.number)
		case eventOfNews:
			i := len(to.Events)
			to.Events = append(to.Events, &events[i])
			if !readEvent(f.bytes, &events[i], &nodes[i]) {
				return false
			}
		default:
			return false
		}
	}
	return !f.broken
}

func readEvent(message []byte, to *mvccpb.Event, node *mvccpb.KeyValue) bool {
	f := fields{rest: message}
	for f.next() {
		switch f.tag {
		case typeOfEvent:
			to.Type = mvccpb.Event_EventType(f.number)
		case nodeOfEvent:
			to.Kv = node
			if !readNode(f.bytes, node) {
				return false
			}
		default:
			return false
		}
	}
	return !f.broken
}

func readNode(message []byte, to *mvccpb.KeyValue) bool {
	f := fields{rest: message}
	for f.next() {
		switch f.tag {
		case keyOfNode:
			to.Key = f.bytes[:len(f.bytes):len(f.bytes)]
		case createdOfNode:
			to.CreateRevision = int64(f.number)
		case modifiedOfNode:
			to.ModRevision = int64(f.number)
		case versionOfNode:
			to.Version = int64(f.number)
		case valueOfNode:
			to.Value = f.bytes[:len(f.bytes):len(f.bytes)]
		case leaseOfNode:
			to.Lease = int64(f.number)
		default:
			return false
		}
	}
	return !f.broken
}
