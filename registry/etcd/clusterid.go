package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Every answer of etcd names the cluster that it is from. A handle goes by one cluster: a member that has lost its disk and came
// back at its old address as a cluster of its own, or an endpoint that was mistaken, knows nothing of what the others know, and
// would have items run again and sessions end. So no answer counts that is from another cluster, and a connection over which
// one came is used no more.
//
// The cluster is the one that more than half of the endpoints name. As long as none is named by so many, it is the one that was
// taken before, or the first. So it changes when all members were restored from a backup, as they have a new one then, and when
// a process began while the mistaken endpoint alone could be reached.
//
// A refusal names none, and a member of another cluster that has other users refuses whatever it is asked. So one that has not
// named its cluster is asked for that before its refusal counts, by a watch: etcd names its cluster even as it refuses one.
//
// Who names no cluster at all is not asked again: stores that are like etcd, and what proxies say by themselves.

// clusterID is what etcd knows a cluster by.
type clusterID uint64

// String is as etcd's own tools write it.
func (id clusterID) String() string { return strconv.FormatUint(uint64(id), 16) }

// connection is a connection to a member, from when it stands until it breaks.
type connection struct {
	balancer.SubConn
	address string
	cluster atomic.Uint64 // that the member has named; 0 = none yet
	mute    atomic.Bool   // it does not tell
	asking  sync.Mutex    // is held by who asks it for its cluster
	asked   atomic.Int64  // when it was asked last, by members.now; 0 = never
}

// named returns the cluster of the member; 0 if it is not known.
func (c *connection) named() clusterID { return clusterID(c.cluster.Load()) }

// unknown tells whether nobody knows yet of which cluster the member is, or whether it tells.
func (c *connection) unknown() bool { return c.named() == 0 && !c.mute.Load() }

// clusters is what a handle knows of the clusters of its members.
type clusters struct {
	ours atomic.Uint64 // 0 = not known yet

	mu    sync.Mutex
	log   *slog.Logger         // nil until the handle is made
	ready []*connection        // those that stand
	since int64                // the number of the picker that said so
	told  map[string]clusterID // by the address of a member: the foreign cluster of which the log has told
}

// our returns the handle's cluster; 0 if it is not known yet.
func (k *members) our() clusterID { return clusterID(k.clusters.ours.Load()) }

// foreign tells whether a connection is to a member of another cluster.
func (k *members) foreign(c *connection) bool {
	named, our := c.named(), k.our()
	return named != 0 && our != 0 && named != our
}

// stand takes in which connections stand, by the picker of that number.
func (k *members) stand(ready []*connection, number int64) {
	k.clusters.mu.Lock()
	defer k.clusters.mu.Unlock()
	if number > k.clusters.since {
		k.clusters.ready, k.clusters.since = ready, number
	}
}

// answersFrom takes in which cluster an answer is from; 0 is none. The error is that it does not count.
func (k *members) answersFrom(c *connection, id clusterID) error {
	if id == 0 {
		return nil
	}
	if c.named() != id {
		c.cluster.Store(uint64(id))
		k.weigh()
	}
	if k.clusters.ours.CompareAndSwap(0, uint64(id)) || !k.foreign(c) {
		return nil
	}
	return k.isForeign(c)
}

// isForeign is the error of a call to a member of another cluster. It says no more of the call than no answer would: which
// cluster is the handle's may turn out otherwise.
func (k *members) isForeign(c *connection) error {
	return status.Error(codes.Unavailable, fmt.Sprintf("the member at %s is of the cluster %s, and not of %s", c.address, c.named(), k.our()))
}

// weigh finds out which cluster is the handle's, when a member has named its own, and tells of those of others.
func (k *members) weigh() {
	k.clusters.mu.Lock()
	defer k.clusters.mu.Unlock()
	k.clusters.weigh(k)
}

// weigh is that of members. The caller holds mu.
func (s *clusters) weigh(k *members) {
	if id, endpoints := s.mostNamed(); 2*len(endpoints) > k.count() {
		if former := clusterID(s.ours.Swap(uint64(id))); former != id && former != 0 && s.log != nil {
			clear(s.told)
			s.log.Error("the endpoints belong to another cluster than before",
				slog.String("cluster", id.String()), slog.String("former", former.String()), slog.String("endpoints", strings.Join(endpoints, ", ")))
		}
	}
	if s.log == nil {
		return
	}
	for _, c := range s.ready {
		switch named := c.named(); {
		case named == 0:
		case !k.foreign(c):
			delete(s.told, c.address)
		case s.told[c.address] != named:
			s.told[c.address] = named
			s.log.Error("an endpoint belongs to another cluster and is passed over",
				slog.String("endpoint", c.address), slog.String("cluster", named.String()), slog.String("want", k.our().String()))
		}
	}
}

// mostNamed returns the cluster that most members name, and their addresses; the one of two that is the handle's, if it is one
// of them. The caller holds mu.
func (s *clusters) mostNamed() (id clusterID, addresses []string) {
	of := s.named()
	for other, them := range of {
		if d := cmp.Compare(len(them), len(addresses)); d > 0 || d == 0 && other == clusterID(s.ours.Load()) {
			id, addresses = other, them
		}
	}
	slices.Sort(addresses)
	return id, addresses
}

// named returns the addresses of the members that name a cluster, by that. The caller holds mu.
func (s *clusters) named() map[clusterID][]string {
	of := make(map[clusterID][]string)
	for _, c := range s.ready {
		if id := c.named(); id != 0 {
			of[id] = append(of[id], c.address)
		}
	}
	return of
}

// tellOfClusters has the log told of what is found out about clusters, also of what was until now.
func (k *members) tellOfClusters(log *slog.Logger) {
	k.clusters.mu.Lock()
	defer k.clusters.mu.Unlock()
	k.clusters.log, k.clusters.told = log, make(map[string]clusterID)
	k.clusters.weigh(k)
}

// agreeWithin bounds how long a process waits at its start until more than half of the endpoints have named one cluster.
const agreeWithin = time.Second

// agree finds out which cluster the handle is to go by, before anything else is asked. The error is that the members that answer
// belong to several, none of which more than half of the endpoints name: then nobody knows which one is meant.
func (k *members) agree(ctx context.Context, conn *grpc.ClientConn) error {
	k.clusters.ours.Store(0)
	if k.count() == 1 {
		return nil
	}
	within := min(2*k.patience, agreeWithin)
	if end, ends := ctx.Deadline(); ends {
		within = min(within, time.Until(end)/4) // the rest is for what is asked then
	}
	asking, enough := context.WithTimeout(ctx, within)
	defer enough()
	var asked sync.WaitGroup
	for range k.count() {
		asked.Go(func() {
			g := new(greeting)
			k.askCluster(context.WithValue(asking, greetKey{}, g), conn)
			if g.to != nil {
				g.to.asking.Unlock()
			}
			if k.our() != 0 || k.mostAreMute() {
				enough()
			}
		})
	}
	asked.Wait()
	k.clusters.mu.Lock()
	defer k.clusters.mu.Unlock()
	of := k.clusters.named()
	all := make([]string, 0, len(of))
	for _, id := range slices.Sorted(maps.Keys(of)) {
		all = append(all, fmt.Sprintf("%s of %s", strings.Join(of[id], ", "), id))
		if len(of) == 1 {
			k.clusters.ours.Store(uint64(id))
		}
	}
	if k.our() == 0 && len(of) > 1 {
		return fmt.Errorf("the endpoints belong to different clusters: %s", strings.Join(all, "; "))
	}
	return nil
}

// agreed tells whether more than half of the endpoints name one cluster.
func (k *members) agreed() bool {
	k.clusters.mu.Lock()
	defer k.clusters.mu.Unlock()
	_, endpoints := k.clusters.mostNamed()
	return 2*len(endpoints) > k.count()
}

// mostAreMute tells whether so many members do not tell their cluster that no cluster will be named by more than half.
func (k *members) mostAreMute() bool {
	k.clusters.mu.Lock()
	defer k.clusters.mu.Unlock()
	mute := 0
	for _, c := range k.clusters.ready {
		if c.mute.Load() {
			mute++
		}
	}
	return 2*mute >= k.count()
}

const (
	// greetLimit bounds how long a member may take to name its cluster. It asks no other one for that.
	greetLimit = time.Second
	// greetPause is how much later one that did not is asked again.
	greetPause = time.Second
)

// greeting is the question for the cluster of a member.
type greeting struct {
	only    *connection // nil = any that nobody has asked yet, as soon as there is one
	to      *connection // to which it went; nil = to none
	refused bool        // it may not read there
}

// meet asks the members for their clusters of which nobody knows them, while a call goes on to others.
func (k *members) meet(conn *grpc.ClientConn, ready []*connection) {
	for _, c := range ready {
		if !c.unknown() || k.isSilent(k.at(c.address)) || c.asked.Load() != 0 && k.now()-c.asked.Load() < int64(greetPause) || !c.asking.TryLock() {
			continue
		}
		k.mu.Lock()
		if k.life == nil || k.closed {
			c.asking.Unlock()
		} else {
			life := k.life
			k.wg.Go(func() {
				defer c.asking.Unlock()
				k.greet(life, conn, c)
			})
		}
		k.mu.Unlock()
	}
}

// believes tells whether an error that a member answered with may count: an error names no cluster. Of a member of which
// nobody knows it, that is asked first.
func (k *members) believes(ctx context.Context, conn *grpc.ClientConn, c *connection) bool {
	if k.our() != 0 && k.count() > 1 && c.unknown() {
		began := k.now()
		c.asking.Lock()
		if c.unknown() && c.asked.Load() < began { // many calls that fail at a time ask once
			if k.greet(ctx, conn, c); ctx.Err() != nil {
				c.asked.Store(0) // it had less time than others may give it
			}
		}
		c.asking.Unlock()
	}
	return !k.foreign(c)
}

// greet asks a member for its cluster. The caller holds its asking.
func (k *members) greet(ctx context.Context, conn *grpc.ClientConn, c *connection) {
	c.asked.Store(k.now())
	ctx, cancel := context.WithTimeout(ctx, greetLimit)
	defer cancel()
	k.askCluster(context.WithValue(ctx, greetKey{}, &greeting{only: c}), conn)
}

// askCluster asks the member that a greeting goes to, and takes in what it says.
func (k *members) askCluster(ctx context.Context, conn *grpc.ClientConn) {
	g := ctx.Value(greetKey{}).(*greeting)
	soon := ctx
	if g.only != nil { // the others may wait for a connection
		var cancel context.CancelFunc
		soon, cancel = context.WithTimeout(ctx, greetLimit/2)
		defer cancel()
	}
	answer, err := pb.NewKVClient(conn).Range(soon, &pb.RangeRequest{Key: k.key, KeysOnly: true, Serializable: true}, grpc.WaitForReady(true))
	id := clusterOf(answer)
	if g.to != nil && (g.refused || soon.Err() != nil && ctx.Err() == nil) {
		g.only = g.to
		id, err = k.clusterByWatch(ctx, conn)
	}
	switch {
	case g.to == nil:
	case err == nil && id != 0:
		g.to.cluster.Store(uint64(id))
		k.weigh()
	case err == nil || refusal(err) != nil:
		g.to.mute.Store(true)
	}
}

// clusterByWatch asks a member for its cluster that refuses to be read, or takes long: it may wait for what a token of another
// cluster speaks of. It refuses a watch as well, and one from before all revisions anyway, by an answer like others.
func (k *members) clusterByWatch(ctx context.Context, conn *grpc.ClientConn) (clusterID, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := pb.NewWatchClient(conn).Watch(ctx)
	if err != nil {
		return 0, err
	}
	ask := &pb.WatchCreateRequest{Key: k.key, StartRevision: -1}
	if err = stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: ask}}); err != nil && !errors.Is(err, io.EOF) {
		return 0, err // io.EOF says that the stream is over, and Recv why
	}
	answer, err := stream.Recv()
	return clusterOf(answer), err
}

// called is a call to whichever member the balancer chooses.
type called struct {
	conn *grpc.ClientConn
	to   atomic.Pointer[connection] // that it chose; nil = none
}

// checkAnswer is an interceptor of all calls.
func (k *members) checkAnswer(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	known := context.WithValue(ctx, membersKey{}, k)
	if g, greets := ctx.Value(greetKey{}).(*greeting); greets {
		err := invoke(known, method, req, reply, conn, opts...)
		if g.refused = err != nil && !unanswered(err); g.refused {
			return nil // etcd's client would log in, elsewhere, and ask again and again
		}
		return err
	}
	if _, is := reply.(*pb.AuthenticateResponse); is {
		return k.logIn(known, conn, func() (*connection, error) { return k.checkOne(known, method, req, reply, conn, invoke, opts...) })
	}
	_, err := k.checkOne(known, method, req, reply, conn, invoke, opts...)
	return err
}

// checkOne makes a call, and tells over which connection, if any, and whether the answer counts.
func (k *members) checkOne(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) (*connection, error) {
	call := &called{conn: conn}
	err := invoke(context.WithValue(ctx, calledKey{}, call), method, req, reply, conn, opts...)
	c := call.to.Load()
	switch {
	case c == nil:
		return nil, err
	case err == nil:
		return c, k.answersFrom(c, clusterOf(reply))
	case !unanswered(err) && !k.believes(ctx, conn, c):
		return c, k.isForeign(c)
	default:
		return c, err
	}
}

// logIn logs in by calls, and makes another one when a member of another cluster has refused: the next goes elsewhere. While the
// handle is being opened, it may take the clusters of more members to tell that the one that refuses is of another.
func (k *members) logIn(ctx context.Context, conn *grpc.ClientConn, call func() (*connection, error)) error {
	for left := k.count(); ; left-- {
		to, err := call()
		if err == nil || to == nil || left <= 1 {
			return err
		}
		if !unanswered(err) && k.opens() && !k.agreed() {
			if differ := k.agree(ctx, conn); differ != nil {
				return status.Error(codes.Unavailable, differ.Error())
			}
		}
		switch {
		case k.foreign(to):
		case !unanswered(err) && to.unknown() && !k.opens():
			return status.Error(codes.Unavailable, fmt.Sprintf("the member at %s, which does not say of which cluster it is, refuses: %v", to.address, err))
		default:
			return err
		}
	}
}

// clusterOf returns the cluster that an answer names; 0 if it names none.
func clusterOf(answer any) clusterID {
	if a, names := answer.(interface{ GetHeader() *pb.ResponseHeader }); names {
		return clusterID(a.GetHeader().GetClusterId())
	}
	return 0
}

// checkStream is an interceptor of all streams.
func (k *members) checkStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	ctx, cancel := context.WithCancel(context.WithValue(ctx, membersKey{}, k))
	call := &called{conn: conn}
	s, err := stream(context.WithValue(ctx, calledKey{}, call), desc, conn, method, opts...)
	if err != nil {
		cancel()
		return nil, err
	}
	context.AfterFunc(s.Context(), cancel) //nolint:contextcheck // the stream's ends with it
	return &checkedStream{ClientStream: s, members: k, to: call.to.Load(), end: cancel}, nil
}

// checkedStream is a stream of answers from one cluster.
type checkedStream struct {
	grpc.ClientStream
	members *members
	to      *connection
	end     context.CancelFunc
}

// RecvMsg implements [grpc.ClientStream].
func (s *checkedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err == nil && s.to != nil {
		if err = s.members.answersFrom(s.to, clusterOf(m)); err != nil {
			s.end()
		}
	}
	return err
}
