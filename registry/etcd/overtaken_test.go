package etcd_test

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const (
	// onItsWay is how long a request of a stream of watches takes to the store.
	onItsWay = 2 * time.Millisecond
	// overtaken is for how long an answer to the question how far the watches are may be overtaken.
	overtaken = 4 * onItsWay
)

// overtake has the news that a watch has begun come before the answer to a question that was asked before. etcd may do that,
// as it sends the two by different ways. Requests, and what watches bring, stay in their order.
func overtake(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil || method != pb.Watch_Watch_FullMethodName {
		return stream, err
	}
	s := &overtakenStream{ClientStream: stream, sent: make(chan request, 1024), came: make(chan arrival)}
	go s.send()
	go s.receive()
	return s, nil
}

// request is what is on its way to the store.
type request struct {
	message any
	due     time.Time
}

// arrival is what came on a stream.
type arrival struct {
	response *pb.WatchResponse
	err      error
}

type overtakenStream struct {
	grpc.ClientStream
	sent chan request
	came chan arrival

	// Of the only goroutine that receives.
	ready []*pb.WatchResponse
	late  []*pb.WatchResponse // answers
	due   <-chan time.Time    // when these come, if nothing does before
}

func (s *overtakenStream) SendMsg(m any) error {
	select {
	case s.sent <- request{m, time.Now().Add(onItsWay)}:
		return nil
	case <-s.Context().Done():
		return status.FromContextError(s.Context().Err()).Err()
	}
}

func (s *overtakenStream) send() {
	for {
		select {
		case r := <-s.sent:
			time.Sleep(time.Until(r.due))
			if s.ClientStream.SendMsg(r.message) != nil {
				return // who receives is told why
			}
		case <-s.Context().Done():
			return
		}
	}
}

func (s *overtakenStream) receive() {
	for {
		a := arrival{response: new(pb.WatchResponse)}
		a.err = s.ClientStream.RecvMsg(a.response)
		select {
		case s.came <- a:
		case <-s.Context().Done():
			return
		}
		if a.err != nil {
			return
		}
	}
}

func (s *overtakenStream) RecvMsg(m any) error {
	for len(s.ready) == 0 {
		select {
		case a := <-s.came:
			if a.err != nil {
				return a.err
			}
			s.take(a.response)
		case <-s.due:
			s.release()
		case <-s.Context().Done():
			return status.FromContextError(s.Context().Err()).Err()
		}
	}
	proto.Reset(m.(proto.Message))
	proto.Merge(m.(proto.Message), s.ready[0])
	s.ready = s.ready[1:]
	return nil
}

func (s *overtakenStream) take(response *pb.WatchResponse) {
	switch answer := len(response.Events) == 0 && response.WatchId == clientv3.InvalidWatchID && !response.Created && !response.Canceled; {
	case answer:
		if s.late = append(s.late, response); s.due == nil {
			s.due = time.After(overtaken)
		}
	case response.Created:
		s.ready = append(s.ready, response)
		s.release()
	default:
		s.release()
		s.ready = append(s.ready, response)
	}
}

func (s *overtakenStream) release() {
	s.ready = append(s.ready, s.late...)
	s.late, s.due = nil, nil
}
