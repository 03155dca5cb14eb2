package etcd

import (
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func marshalled(t require.TestingT, m proto.Message) []byte {
	message, err := proto.Marshal(m)
	require.NoError(t, err)
	return message
}

func number(t *rapid.T, name string) int64 {
	return rapid.OneOf(rapid.Int64Range(-1, 3), rapid.Int64()).Draw(t, name)
}

func anyHeader(t *rapid.T) *pb.ResponseHeader {
	if rapid.IntRange(0, 5).Draw(t, "no header") == 0 {
		return nil
	}
	return &pb.ResponseHeader{
		ClusterId: uint64(number(t, "cluster")), MemberId: uint64(number(t, "member")), Revision: number(t, "revision"), RaftTerm: uint64(number(t, "term")),
	}
}

func anyNode(t *rapid.T) *mvccpb.KeyValue {
	text := rapid.SliceOfN(rapid.Byte(), 0, 200)
	return &mvccpb.KeyValue{
		Key: text.Draw(t, "key"), Value: text.Draw(t, "value"), CreateRevision: number(t, "created"), ModRevision: number(t, "modified"),
		Version: number(t, "version"), Lease: number(t, "lease"),
	}
}

// anyAnswer draws an answer with parts, which may be answers themselves.
func anyAnswer(t *rapid.T, depth int, ranges bool) *pb.TxnResponse {
	a := &pb.TxnResponse{Header: anyHeader(t), Succeeded: rapid.Bool().Draw(t, "succeeded")}
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		part := new(pb.ResponseOp)
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case kind == 0:
			part.Response = &pb.ResponseOp_ResponsePut{ResponsePut: &pb.PutResponse{Header: anyHeader(t)}}
		case kind == 1:
			part.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: &pb.DeleteRangeResponse{Header: anyHeader(t), Deleted: 1}}
		case kind == 2 && ranges:
			part.Response = &pb.ResponseOp_ResponseRange{ResponseRange: &pb.RangeResponse{Kvs: []*mvccpb.KeyValue{anyNode(t)}, Count: 1}}
		case depth > 0:
			part.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: anyAnswer(t, depth-1, ranges)}
		}
		a.Responses = append(a.Responses, part)
	}
	return a
}

// withoutDeeds takes out of an answer what each single put and delete came to, and the headers of parts.
func withoutDeeds(a *pb.TxnResponse) {
	for _, part := range a.Responses {
		switch is := part.Response.(type) {
		case *pb.ResponseOp_ResponseTxn:
			is.ResponseTxn.Header = nil
			withoutDeeds(is.ResponseTxn)
		case *pb.ResponseOp_ResponsePut, *pb.ResponseOp_ResponseDeleteRange:
			part.Response = nil
		}
	}
}

// received is what the codec makes of a message that comes in two pieces.
func received[T any](message []byte, to T) (T, error) {
	half := len(message) / 2
	pieces := mem.BufferSlice{mem.SliceBuffer(append([]byte(nil), message[:half]...)), mem.SliceBuffer(append([]byte(nil), message[half:]...))}
	err := newCodec().Unmarshal(pieces, to)
	for _, piece := range pieces { // gRPC uses them again
		clear(piece.ReadOnlyData())
	}
	return to, err
}

func requireEqual(t require.TestingT, want, got proto.Message) {
	require.True(t, proto.Equal(want, got), "want %s\ngot %s", want, got)
}

// Answers say what protobuf reads in them, but for what each put and delete came to. One with something that was found
// says all.
func TestAnswersAreReadAsProtobufReadsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ranges := rapid.Bool().Draw(t, "ranges")
		want := anyAnswer(t, 2, ranges)
		message := marshalled(t, want)
		got, err := received(message, new(pb.TxnResponse))
		require.NoError(t, err)
		if readAnswer(message, new(pb.TxnResponse)) {
			withoutDeeds(want)
		}
		requireEqual(t, want, got)
	})
}

// News say all that protobuf reads in them.
func TestNewsAreReadAsProtobufReadsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := &pb.WatchResponse{Header: anyHeader(t), WatchId: number(t, "watch"), Fragment: rapid.Bool().Draw(t, "fragment")}
		switch rapid.IntRange(0, 9).Draw(t, "special") {
		case 0:
			want.Created = true
		case 1:
			want.Canceled, want.CancelReason, want.CompactRevision = true, "it is late", 7
		}
		for range rapid.IntRange(0, 5).Draw(t, "events") {
			e := &mvccpb.Event{Type: mvccpb.Event_EventType(rapid.IntRange(0, 1).Draw(t, "type")), Kv: anyNode(t)}
			if rapid.IntRange(0, 9).Draw(t, "with what was there before") == 0 {
				e.PrevKv = anyNode(t)
			}
			want.Events = append(want.Events, e)
		}
		got, err := received(marshalled(t, want), new(pb.WatchResponse))
		require.NoError(t, err)
		requireEqual(t, want, got)
	})
}

// What is no message, is none; and what is a strange one, is read as protobuf reads it.
func FuzzNews(f *testing.F) {
	node := &mvccpb.KeyValue{Key: []byte("/ns/a"), Value: []byte("v"), CreateRevision: 1, ModRevision: 300, Version: 2, Lease: 7}
	f.Add(marshalled(f, &pb.WatchResponse{Header: &pb.ResponseHeader{Revision: 300}, WatchId: 1, Events: []*mvccpb.Event{{Kv: node}, {Type: 1, Kv: node}}}))
	f.Add(marshalled(f, &pb.WatchResponse{Canceled: true, CancelReason: "x"}))
	f.Add([]byte{0x5a, 0x02, 0x12, 0x00})
	f.Fuzz(func(t *testing.T, message []byte) {
		want := new(pb.WatchResponse)
		refused := proto.Unmarshal(message, want)
		got, err := received(message, new(pb.WatchResponse))
		require.Equal(t, refused == nil, err == nil)
		if err == nil {
			requireEqual(t, want, got)
		}
	})
}

// Whatever an answer is, it is read, or left to protobuf: nobody has to trust the network.
func FuzzAnswer(f *testing.F) {
	part := &pb.ResponseOp{Response: &pb.ResponseOp_ResponseTxn{ResponseTxn: &pb.TxnResponse{Succeeded: true}}}
	put := &pb.ResponseOp{Response: &pb.ResponseOp_ResponsePut{ResponsePut: new(pb.PutResponse)}}
	f.Add(marshalled(f, &pb.TxnResponse{Header: &pb.ResponseHeader{Revision: 300}, Succeeded: true, Responses: []*pb.ResponseOp{part, put}}))
	f.Fuzz(func(t *testing.T, message []byte) {
		want := new(pb.TxnResponse)
		if proto.Unmarshal(message, want) != nil {
			return
		}
		got, err := received(message, new(pb.TxnResponse))
		require.NoError(t, err)
		require.Equal(t, want.Succeeded, got.Succeeded)
		require.Equal(t, want.GetHeader().GetRevision(), got.GetHeader().GetRevision())
		require.Len(t, got.Responses, len(want.Responses))
	})
}

// answerToBegins is the answer to the begins of a job's items.
func answerToBegins(n int) *pb.TxnResponse {
	header := &pb.ResponseHeader{ClusterId: 1 << 60, MemberId: 1 << 61, Revision: 1 << 20, RaftTerm: 3}
	put := &pb.ResponseOp{Response: &pb.ResponseOp_ResponsePut{ResponsePut: &pb.PutResponse{Header: &pb.ResponseHeader{Revision: 1 << 20}}}}
	of := &pb.TxnResponse{Header: new(pb.ResponseHeader), Succeeded: true}
	for range n {
		of.Responses = append(of.Responses, &pb.ResponseOp{Response: &pb.ResponseOp_ResponseTxn{ResponseTxn: &pb.TxnResponse{
			Header: new(pb.ResponseHeader), Succeeded: true, Responses: []*pb.ResponseOp{put, put},
		}}})
	}
	return &pb.TxnResponse{Header: header, Succeeded: true, Responses: []*pb.ResponseOp{{Response: &pb.ResponseOp_ResponseTxn{ResponseTxn: of}}}}
}

// newsOfBegins is what a watch tells of them.
func newsOfBegins(n int) *pb.WatchResponse {
	news := &pb.WatchResponse{Header: &pb.ResponseHeader{ClusterId: 1 << 60, MemberId: 1 << 61, Revision: 1 << 20, RaftTerm: 3}, WatchId: 1}
	for range 2 * n {
		news.Events = append(news.Events, &mvccpb.Event{Kv: &mvccpb.KeyValue{
			Key: []byte("/shop/orders/sharding/17/record"), Value: make([]byte, 300), CreateRevision: 7, ModRevision: 1 << 20, Version: 9,
		}})
	}
	return news
}

// What is read of a hundred begins takes few pieces of memory, whichever message it is.
func TestWhatIsReceivedTakesFewPiecesOfMemory(t *testing.T) {
	answer, news := marshalled(t, answerToBegins(100)), marshalled(t, newsOfBegins(100))
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() { require.True(t, readAnswer(answer, new(pb.TxnResponse))) }), 30.0)
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() { require.True(t, readNews(news, new(pb.WatchResponse))) }), 10.0)
}

// What it costs to read what a process gets of the begins of a hundred items, compared with protobuf.
func BenchmarkReceive(b *testing.B) {
	for name, codec := range map[string]encoding.CodecV2{"ours": newCodec(), "protobuf": encoding.GetCodecV2("proto")} {
		for what, message := range map[string]proto.Message{"answer": answerToBegins(100), "news": newsOfBegins(100)} {
			data := mem.BufferSlice{mem.SliceBuffer(marshalled(b, message))}
			b.Run(what+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					require.NoError(b, codec.Unmarshal(data, message.ProtoReflect().New().Interface()))
				}
			})
		}
	}
}
