package etcd

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"
)

// servedStream is a stream of watches and its server. The server takes requests in order, brings what watches have to tell
// by one way and that they have begun by another, and takes from either as it likes.
type servedStream struct {
	t        *rapid.T
	revision int64
	written  []int64 // the key that each revision wrote
	requests []*pb.WatchRequest
	watches  []*servedWatch
	news     []*pb.WatchResponse
	begins   []*pb.WatchResponse

	answers answers
	resumes []int64 // the keys of watches that the client has yet to ask for, the first of which it has
	shown   int     // answers that watches were shown
	hidden  int
}

// servedWatch is a watch of one key.
type servedWatch struct {
	key     int64
	after   int64   // from where on it brings what happens
	synced  bool    // it is sent what happens when it does
	known   bool    // the client has heard that it has begun
	brought []int64 // to the client
	pending []*pb.WatchResponse
}

func (s *servedStream) wrote(key, after, upTo int64) (revisions []int64) {
	for revision := after + 1; revision <= upTo; revision++ {
		if s.written[revision] == key {
			revisions = append(revisions, revision)
		}
	}
	return revisions
}

// commit writes a key.
func (s *servedStream) commit(key int64) {
	s.revision++
	s.written = append(s.written, key)
	for id, w := range s.watches {
		if w.synced && w.key == key {
			s.bring(id, []int64{s.revision})
		}
	}
}

func (s *servedStream) bring(id int, revisions []int64) {
	news := &pb.WatchResponse{Header: &pb.ResponseHeader{Revision: s.revision}, WatchId: int64(id)}
	for _, revision := range revisions {
		news.Events = append(news.Events, &mvccpb.Event{Kv: &mvccpb.KeyValue{ModRevision: revision}})
	}
	s.news = append(s.news, news)
}

// sync brings watches what happened before they began.
func (s *servedStream) sync() {
	for id, w := range s.watches {
		if w.synced {
			continue
		}
		w.synced = true
		if missed := s.wrote(w.key, w.after, s.revision); len(missed) > 0 {
			s.bring(id, missed)
		}
	}
}

// send has the client send a request.
func (s *servedStream) send(request *pb.WatchRequest) {
	s.answers.sent(request)
	s.requests = append(s.requests, request)
}

func (s *servedStream) ask() {
	s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}})
}

// watch has the client want a watch. It asks for one after the other.
func (s *servedStream) watch(key int64) {
	if s.resumes = append(s.resumes, key); len(s.resumes) == 1 {
		s.askForWatch()
	}
}

func (s *servedStream) askForWatch() {
	s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
		Key: []byte{byte(s.resumes[0])}, StartRevision: rapid.Int64Range(1, s.revision+1).Draw(s.t, "start"),
	}}})
}

// serve has the server take the next request.
func (s *servedStream) serve() {
	if len(s.requests) == 0 {
		return
	}
	request := s.requests[0]
	s.requests = s.requests[1:]
	if create := request.GetCreateRequest(); create != nil {
		w := &servedWatch{key: int64(create.Key[0]), after: create.StartRevision - 1, synced: create.StartRevision > s.revision}
		s.watches = append(s.watches, w)
		s.begins = append(s.begins, &pb.WatchResponse{Header: &pb.ResponseHeader{Revision: s.revision}, WatchId: int64(len(s.watches) - 1), Created: true})
		return
	}
	if len(s.watches) > 0 && !slices.ContainsFunc(s.watches, func(w *servedWatch) bool { return !w.synced }) {
		s.news = append(s.news, &pb.WatchResponse{Header: &pb.ResponseHeader{Revision: s.revision}, WatchId: clientv3.InvalidWatchID})
	}
}

// deliver has the client receive something by either way.
func (s *servedStream) deliver(begin bool) {
	switch {
	case begin && len(s.begins) > 0:
		response := s.begins[0]
		s.begins = s.begins[1:]
		require.True(s.t, s.answers.received(response))
		w := s.watches[response.WatchId]
		w.known = true
		for _, pending := range w.pending {
			s.receive(pending)
		}
		if s.resumes = s.resumes[1:]; len(s.resumes) > 0 {
			s.askForWatch()
		}
	case !begin && len(s.news) > 0:
		response := s.news[0]
		s.news = s.news[1:]
		if id := response.WatchId; id >= 0 && !s.watches[id].known {
			s.watches[id].pending = append(s.watches[id].pending, response)
			return
		}
		s.receive(response)
	}
}

func (s *servedStream) receive(response *pb.WatchResponse) {
	shown := s.answers.received(response)
	if response.WatchId >= 0 {
		require.True(s.t, shown, "what a watch brings is never left out")
		w := s.watches[response.WatchId]
		for _, e := range response.Events {
			w.brought = append(w.brought, e.Kv.ModRevision)
		}
		return
	}
	if !shown {
		s.hidden++
		return
	}
	s.shown++
	for _, w := range s.watches {
		if w.known {
			require.Equal(s.t, s.wrote(w.key, w.after, response.Header.Revision), w.brought,
				"a watch was told that it had brought everything up to %d", response.Header.Revision)
		}
	}
}

// settle has everything that is under way arrive.
func (s *servedStream) settle() {
	s.sync() // a server that is behind answers no question
	for len(s.requests)+len(s.begins)+len(s.news) > 0 {
		s.serve()
		s.sync()
		s.deliver(true)
		s.deliver(false)
	}
}

// No watch is shown an answer before it has brought all that the answer is about, in whatever order the server's two ways
// come; and whoever asks often enough is answered.
func TestAnAnswerIsAboutAllWatchesThatAreShownIt(t *testing.T) {
	t.Parallel()
	var hidden int
	rapid.Check(t, func(t *rapid.T) {
		s := &servedStream{t: t, written: []int64{-1}}
		key := rapid.Int64Range(0, 2)
		t.Repeat(map[string]func(*rapid.T){
			"commit":         func(t *rapid.T) { s.commit(key.Draw(t, "key")) },
			"watch":          func(t *rapid.T) { s.watch(key.Draw(t, "key")) },
			"ask":            func(*rapid.T) { s.ask() },
			"serve":          func(*rapid.T) { s.serve() },
			"sync":           func(*rapid.T) { s.sync() },
			"deliver begins": func(*rapid.T) { s.deliver(true) },
			"deliver news":   func(*rapid.T) { s.deliver(false) },
		})
		s.settle()
		if len(s.watches) == 0 {
			return
		}
		unanswered := s.answers.asked - s.answers.settled
		before := s.shown
		for range unanswered + 1 {
			s.ask()
			s.settle()
		}
		require.Greater(t, s.shown, before)
		hidden += s.hidden
	})
	require.Positive(t, hidden, "some answers came late")
}

// A quiet store answers the first question after all that was asked before a watch began was answered, and a revision later
// than that answers at once.
func TestAnswersThatWatchesAreShown(t *testing.T) {
	t.Parallel()
	ask := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}}
	create := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{}}}
	response := func(revision, id int64) *pb.WatchResponse {
		return &pb.WatchResponse{Header: &pb.ResponseHeader{Revision: revision}, WatchId: id}
	}
	answer := func(revision int64) *pb.WatchResponse { return response(revision, clientv3.InvalidWatchID) }
	begun := func(revision int64) *pb.WatchResponse {
		r := response(revision, 0)
		r.Created = true
		return r
	}
	refused := begun(7)
	refused.Canceled, refused.WatchId = true, clientv3.InvalidWatchID
	news := response(8, 0)
	news.Events = []*mvccpb.Event{{}}
	for name, tt := range map[string]struct {
		sent     []*pb.WatchRequest
		received []*pb.WatchResponse
		shown    []bool
	}{
		"asked after the watch":                   {[]*pb.WatchRequest{create, ask}, []*pb.WatchResponse{begun(7), answer(7)}, []bool{true, true}},
		"asked before the watch":                  {[]*pb.WatchRequest{ask, create}, []*pb.WatchResponse{begun(7), answer(7)}, []bool{true, false}},
		"asked before and after":                  {[]*pb.WatchRequest{ask, create, ask}, []*pb.WatchResponse{begun(7), answer(7), answer(7)}, []bool{true, false, true}},
		"answered before the watch began":         {[]*pb.WatchRequest{ask, create, ask}, []*pb.WatchResponse{answer(7), begun(7), answer(7)}, []bool{true, true, true}},
		"answered later than the watch":           {[]*pb.WatchRequest{ask, create}, []*pb.WatchResponse{begun(7), answer(8)}, []bool{true, true}},
		"something happened since the watch":      {[]*pb.WatchRequest{ask, create, ask}, []*pb.WatchResponse{begun(7), news, answer(8)}, []bool{true, true, true}},
		"the watch was refused":                   {[]*pb.WatchRequest{ask, create}, []*pb.WatchResponse{refused, answer(7)}, []bool{true, true}},
		"one of two watches has begun":            {[]*pb.WatchRequest{create, ask, create}, []*pb.WatchResponse{begun(7), answer(7), begun(7)}, []bool{true, true, true}},
		"asked before the second of two watches":  {[]*pb.WatchRequest{create, ask, create}, []*pb.WatchResponse{begun(7), begun(7), answer(7)}, []bool{true, true, false}},
		"the second began at a later revision":    {[]*pb.WatchRequest{create, ask, create}, []*pb.WatchResponse{begun(7), begun(9), answer(8)}, []bool{true, true, false}},
		"nothing was asked, and an answer comes":  {[]*pb.WatchRequest{create}, []*pb.WatchResponse{begun(7), answer(7)}, []bool{true, true}},
		"a watch says by itself how far it is":    {[]*pb.WatchRequest{ask, create}, []*pb.WatchResponse{begun(7), response(7, 0)}, []bool{true, true}},
		"a watch ends between watch and question": {[]*pb.WatchRequest{ask, create}, []*pb.WatchResponse{begun(7), {Canceled: true}, answer(7)}, []bool{true, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a answers
			for _, request := range tt.sent {
				a.sent(request)
			}
			var shown []bool
			for _, r := range tt.received {
				shown = append(shown, a.received(r))
			}
			require.Equal(t, tt.shown, shown)
		})
	}
}
