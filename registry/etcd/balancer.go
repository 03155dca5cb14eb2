package etcd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/base"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// balancerName is what gRPC knows the balancer of our own connections by. It goes round among the members that are connected,
// as the one does that etcd's client asks for, and passes over those that are silent.
const balancerName = "elasticron_etcd"

// judgedMethods are the calls by which members are known: reads and writes, which only a member answers that is in touch
// with the majority, and soon.
const judgedMethods = "/etcdserverpb.KV/"

func init() { balancer.Register(balancerBuilder{}) }

// balance has a connection's calls go to members that are not silent.
func (k *members) balance() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDisableServiceConfig(), // with which etcd's client asks for another balancer
		grpc.WithDefaultServiceConfig(fmt.Sprintf(`{"loadBalancingConfig": [{%q: {}}]}`, balancerName)),
		grpc.WithChainUnaryInterceptor(k.checkAnswer),
		grpc.WithChainStreamInterceptor(k.checkStream),
	}
}

// What the context of a call says to the balancer: what is known of the members; to which one a question goes; where to say to
// which one, and over which connection, the call goes; to whom a [greeting] goes.
type (
	membersKey struct{}
	onlyKey    struct{}
	chosenKey  struct{}
	calledKey  struct{}
	greetKey   struct{}
)

// question has a read of the context go to one member, or nowhere.
func question(ctx context.Context, m *member) context.Context {
	return context.WithValue(ctx, onlyKey{}, m)
}

// tellChoice has the balancer put down to which member a stream of the context goes.
func tellChoice(ctx context.Context, chosen *atomic.Pointer[member]) context.Context {
	return context.WithValue(ctx, chosenKey{}, chosen)
}

type balancerBuilder struct{}

func (balancerBuilder) Name() string { return balancerName }

// Build implements [balancer.Builder].
func (balancerBuilder) Build(conn balancer.ClientConn, options balancer.BuildOptions) balancer.Balancer {
	return membersBalancer{base.NewBalancerBuilder(balancerName, &pickerBuilder{}, base.Config{}).Build(conn, options)}
}

// membersBalancer is gRPC's own, which connects to all members, for endpoints as etcd's client names them.
type membersBalancer struct{ balancer.Balancer }

// UpdateClientConnState implements [balancer.Balancer].
func (b membersBalancer) UpdateClientConnState(s balancer.ClientConnState) error {
	s.ResolverState.Addresses = nil
	for _, e := range s.ResolverState.Endpoints {
		s.ResolverState.Addresses = append(s.ResolverState.Addresses, e.Addresses...)
	}
	return b.Balancer.UpdateClientConnState(s)
}

// pickerBuilder makes the pickers of one balancer, one after the other.
type pickerBuilder struct {
	standing map[balancer.SubConn]*connection
}

// pickers numbers all pickers.
var pickers atomic.Int64

// Build implements [base.PickerBuilder]. gRPC calls it whenever a connection has come to stand, or does not any more. So one that
// was not there the last time is a new one, with what may be another server behind it.
func (b *pickerBuilder) Build(info base.PickerBuildInfo) balancer.Picker {
	before := b.standing
	b.standing = make(map[balancer.SubConn]*connection)
	p := &picker{number: pickers.Add(1)}
	for conn, of := range info.ReadySCs {
		c := before[conn]
		if c == nil {
			c = &connection{SubConn: conn, address: of.Address.Addr}
		}
		b.standing[conn] = c
		p.ready = append(p.ready, c)
	}
	if len(p.ready) == 0 {
		return base.NewErrPicker(balancer.ErrNoSubConnAvailable)
	}
	p.next.Store(rand.Uint32()) // processes that start together do not all begin with the same member
	return p
}

// picker chooses among the members that are connected.
type picker struct {
	ready  []*connection
	next   atomic.Uint32
	number int64
	seen   atomic.Bool // members knows of it
}

// Pick implements [balancer.Picker].
func (p *picker) Pick(call balancer.PickInfo) (balancer.PickResult, error) {
	k, known := call.Ctx.Value(membersKey{}).(*members)
	if !known {
		return balancer.PickResult{SubConn: p.turn().SubConn}, nil
	}
	if !p.seen.Load() {
		k.stand(p.ready, p.number)
		p.seen.Store(true)
	}
	if g, greets := call.Ctx.Value(greetKey{}).(*greeting); greets {
		return p.greet(g)
	}
	of, _ := call.Ctx.Value(calledKey{}).(*called)
	if only, one := call.Ctx.Value(onlyKey{}).(*member); one && call.FullMethodName == pb.KV_Range_FullMethodName {
		to := p.with(only)
		if to == nil {
			return balancer.PickResult{}, errNotConnected
		}
		if of != nil {
			of.to.Store(to)
		}
		return balancer.PickResult{SubConn: to.SubConn, Done: k.judge(only, true)}, nil
	}
	if of != nil && k.count() > 1 {
		k.meet(of.conn, p.ready)
	}
	to, m := p.choose(k)
	if k.foreign(to) {
		return balancer.PickResult{}, k.isForeign(to)
	}
	if of != nil {
		of.to.Store(to)
	}
	result := balancer.PickResult{SubConn: to.SubConn}
	if strings.HasPrefix(call.FullMethodName, judgedMethods) {
		result.Done = k.judge(m, false)
	} else if chosen, asks := call.Ctx.Value(chosenKey{}).(*atomic.Pointer[member]); asks {
		chosen.Store(m)
	}
	return result, nil
}

var errNotConnected = status.Error(codes.Unavailable, "the member is not connected")

// greet has a greeting go to the member that it is for. One for any waits for one that nobody has asked.
func (p *picker) greet(g *greeting) (balancer.PickResult, error) {
	if g.only != nil {
		if !slices.Contains(p.ready, g.only) {
			return balancer.PickResult{}, errNotConnected
		}
		g.to = g.only
		return balancer.PickResult{SubConn: g.to.SubConn}, nil
	}
	if g.to != nil { // gRPC had not sent it when that one broke
		g.to.asking.Unlock()
		g.to = nil
	}
	for _, c := range p.ready {
		if c.unknown() && c.asking.TryLock() {
			g.to = c
			return balancer.PickResult{SubConn: c.SubConn}, nil
		}
	}
	return balancer.PickResult{}, balancer.ErrNoSubConnAvailable
}

// turn returns the next member.
func (p *picker) turn() *connection { return p.ready[int(p.next.Add(1)%uint32(len(p.ready)))] }

// choose returns the next member that is of the handle's cluster and not silent, or the next one of as few faults as there is.
func (p *picker) choose(k *members) (*connection, *member) {
	among := without(p.ready, k.foreign)
	if k.our() != 0 {
		among = without(among, (*connection).unknown)
	}
	among = without(among, func(c *connection) bool { return k.isSilent(k.at(c.address)) })
	to := among[int(p.next.Add(1)%uint32(len(among)))] // one turn a call: two at a time do not take those of each other
	return to, k.at(to.address)
}

// without leaves some connections out, unless that leaves none.
func without(all []*connection, some func(*connection) bool) []*connection {
	if !slices.ContainsFunc(all, some) {
		return all
	}
	if others := slices.DeleteFunc(slices.Clone(all), some); len(others) > 0 {
		return others
	}
	return all
}

// with returns the connection to a member; nil if there is none.
func (p *picker) with(m *member) *connection {
	for _, c := range p.ready {
		if c.address == m.address {
			return c
		}
	}
	return nil
}

// judge returns what takes in how a call to a member, which begins now, has ended. A question whose answer comes late says
// that the member has just woken, and not that it has found the others again: what it is sent then may get lost.
func (k *members) judge(m *member, question bool) func(balancer.DoneInfo) {
	sent := k.now()
	return func(call balancer.DoneInfo) {
		late := k.now()-sent >= int64(k.patience)
		switch {
		case call.BytesReceived && !unanswered(call.Err):
			if !question || !late {
				k.heard(m)
			}
		case call.BytesReceived && status.Code(call.Err) != codes.Unavailable: // an answer was on its way
		case late:
			k.unanswered(m, sent)
		}
	}
}
