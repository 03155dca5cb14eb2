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
		grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				return invoke(context.WithValue(ctx, membersKey{}, k), method, req, reply, conn, opts...)
			},
		),
		grpc.WithChainStreamInterceptor(
			func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				return stream(context.WithValue(ctx, membersKey{}, k), desc, conn, method, opts...)
			},
		),
	}
}

// What the context of a call says to the balancer: what is known of the members; to which one a question goes; where to say to
// which one the call goes.
type (
	membersKey struct{}
	onlyKey    struct{}
	chosenKey  struct{}
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
	return membersBalancer{base.NewBalancerBuilder(balancerName, pickerBuilder{}, base.Config{}).Build(conn, options)}
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

type pickerBuilder struct{}

// Build implements [base.PickerBuilder].
func (pickerBuilder) Build(info base.PickerBuildInfo) balancer.Picker {
	if len(info.ReadySCs) == 0 {
		return base.NewErrPicker(balancer.ErrNoSubConnAvailable)
	}
	p := new(picker)
	for conn, of := range info.ReadySCs {
		p.ready = append(p.ready, connected{conn, of.Address.Addr})
	}
	p.next.Store(rand.Uint32()) // processes that start together do not all begin with the same member
	return p
}

// picker chooses among the members that are connected.
type picker struct {
	ready []connected
	next  atomic.Uint32
}

// connected is a member with a connection to it.
type connected struct {
	conn    balancer.SubConn
	address string
}

// Pick implements [balancer.Picker].
func (p *picker) Pick(call balancer.PickInfo) (balancer.PickResult, error) {
	k, known := call.Ctx.Value(membersKey{}).(*members)
	if !known {
		return balancer.PickResult{SubConn: p.turn().conn}, nil
	}
	if only, one := call.Ctx.Value(onlyKey{}).(*member); one && call.FullMethodName == pb.KV_Range_FullMethodName {
		to := p.with(only)
		if to.conn == nil {
			return balancer.PickResult{}, status.Error(codes.Unavailable, "the member is not connected")
		}
		return balancer.PickResult{SubConn: to.conn, Done: k.judge(only, true)}, nil
	}
	to, m := p.choose(k)
	result := balancer.PickResult{SubConn: to.conn}
	if strings.HasPrefix(call.FullMethodName, judgedMethods) {
		result.Done = k.judge(m, false)
	} else if chosen, asks := call.Ctx.Value(chosenKey{}).(*atomic.Pointer[member]); asks {
		chosen.Store(m)
	}
	return result, nil
}

// turn returns the next member.
func (p *picker) turn() connected { return p.ready[int(p.next.Add(1)%uint32(len(p.ready)))] }

// choose returns the next member that is not silent, or the next one if all are.
func (p *picker) choose(k *members) (connected, *member) {
	among := p.ready
	if silent := func(c connected) bool { return k.passesOver(k.at(c.address)) }; slices.ContainsFunc(p.ready, silent) {
		if others := slices.DeleteFunc(slices.Clone(p.ready), silent); len(others) > 0 {
			among = others
		}
	}
	to := among[int(p.next.Add(1)%uint32(len(among)))] // one turn a call: two at a time do not take those of each other
	return to, k.at(to.address)
}

// with returns the connection to a member; none if there is none.
func (p *picker) with(m *member) connected {
	for _, c := range p.ready {
		if c.address == m.address {
			return c
		}
	}
	return connected{}
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
