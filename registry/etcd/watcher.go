package etcd

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// newWatcher makes a watcher over a client's connection whose watches believe an answer to the question how far they are
// only if it is about them; see [answers]. A client whose owner has put another watcher into it, such as one of etcd's
// package namespace, keeps that: what it does to keys cannot be done here.
//
// The client goes on for ever to open a stream that no watch has used yet. So one of a number that is not the present one any
// more is not opened.
//
// ahead is kept at the revision to which the store must come before it answers questions on that one; see [answers]. with is
// kept at the member that it is with, if the balancer tells.
func newWatcher(client *clientv3.Client, present, ahead *atomic.Int64, with *atomic.Pointer[member]) clientv3.Watcher {
	if reflect.TypeOf(client.Watcher) != reflect.TypeOf(clientv3.NewWatcher(client)) {
		return givenWatcher{client.Watcher}
	}
	return clientv3.NewWatchFromWatchClient(pb.NewWatchClient(watchConn{client.ActiveConnection(), present, ahead, with}), client)
}

// givenWatcher is a watcher that its client's owner closes.
type givenWatcher struct{ clientv3.Watcher }

func (givenWatcher) Close() error { return nil }

// watchConn is a connection over which streams of watches go.
type watchConn struct {
	grpc.ClientConnInterface
	present *atomic.Int64 // the number of the stream in use
	ahead   *atomic.Int64 // the revision to which the store must come before it answers questions on that one
	with    *atomic.Pointer[member]
}

// NewStream implements [grpc.ClientConnInterface].
func (c watchConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	var chosen atomic.Pointer[member]
	stream, err := c.ClientConnInterface.NewStream(tellChoice(ctx, &chosen), desc, method, opts...) // waits for a connection
	number, known := streamNumber(ctx)
	if known && number < c.present.Load() {
		cancel()
		return nil, status.Error(codes.Canceled, "another stream has taken its place") // which the client takes as final
	}
	if err != nil {
		cancel()
		return nil, err
	}
	c.with.Store(chosen.Load())
	context.AfterFunc(stream.Context(), cancel) //nolint:contextcheck // the stream's ends with it
	return &watchStream{ClientStream: stream, conn: c, number: number}, nil
}

// watchStream is a stream of watches that leaves out answers which one of the watches must not be shown.
type watchStream struct {
	grpc.ClientStream
	conn    watchConn
	number  int64
	mu      sync.Mutex
	answers answers
}

// SendMsg implements [grpc.ClientStream].
func (s *watchStream) SendMsg(m any) error {
	if request, ok := m.(*pb.WatchRequest); ok {
		s.mu.Lock()
		s.answers.sent(request)
		s.mu.Unlock()
	}
	return s.ClientStream.SendMsg(m)
}

// RecvMsg implements [grpc.ClientStream].
func (s *watchStream) RecvMsg(m any) error {
	for {
		if err := s.ClientStream.RecvMsg(m); err != nil {
			return err
		}
		response, ok := m.(*pb.WatchResponse)
		if !ok || s.shows(response) {
			return nil
		}
		response.Reset()
	}
}

func (s *watchStream) shows(response *pb.WatchResponse) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	shows := s.answers.received(response)
	if s.number == s.conn.present.Load() {
		s.conn.ahead.Store(s.answers.ahead)
	}
	return shows
}

// answers tells which answers to the question how far the watches of a stream are may be older than one of these watches.
//
// etcd takes what comes on a stream in order, and answers a question only when all watches of the stream have been sent what
// happened by then. But that a watch has begun is said on another way than what watches bring, and may overtake the answer to
// a question that was there before. The client shows an answer to every watch that has begun as far as it knows. So a new
// watch would be told that it has brought everything up to a revision, and what it brings of that later would count as known.
//
// Nor does etcd answer while the store has yet to come to where one of the watches starts. So in a store in which nobody writes
// it answers nothing once a watch has begun with what is next, as each one does when the client takes it up again.
type answers struct {
	asked    int     // how many questions were sent
	settled  int     // of these, how many have had their answer at least, or will have none
	begins   []begin // of the watches that have yet to begin, in their order
	doubtful int     // how many had been sent before the last watch that began while some of them were not settled
	begun    int64   // the store's revision when that watch began; what is older may be about the time before
	ahead    int64   // the latest start to which the store has yet to come; 0 = none
}

// begin is a watch that has yet to begin.
type begin struct {
	asked int // how many questions had been sent before
	start int64
}

// sent takes in a request.
func (a *answers) sent(request *pb.WatchRequest) {
	switch {
	case request.GetProgressRequest() != nil:
		a.asked++
	case request.GetCreateRequest() != nil:
		a.begins = append(a.begins, begin{a.asked, request.GetCreateRequest().StartRevision})
	}
}

// received takes in what came, and tells whether to show it to the watches.
func (a *answers) received(response *pb.WatchResponse) bool {
	switch {
	case response.Created:
		a.created(response)
		return true
	case response.Canceled:
		return true
	}
	revision := response.Header.GetRevision()
	if revision > a.begun { // it came after the watch, as does all behind it
		a.settled = max(a.settled, a.doubtful)
	}
	if revision >= a.ahead {
		a.ahead = 0
	}
	if len(response.Events) > 0 || response.WatchId != clientv3.InvalidWatchID {
		return true
	}
	a.settled++ // each question has one answer at most, and they come in order
	return a.settled > a.doubtful
}

func (a *answers) created(response *pb.WatchResponse) {
	if len(a.begins) == 0 {
		return
	}
	was, revision := a.begins[0], response.Header.GetRevision()
	a.begins = a.begins[1:]
	if response.Canceled {
		return
	}
	if was.asked > a.settled {
		a.doubtful, a.begun = was.asked, revision
	}
	if was.start > revision {
		a.ahead = max(a.ahead, was.start)
	}
}
