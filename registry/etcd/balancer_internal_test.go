package etcd

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/base"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/status"
)

// connTo is a connection to a member.
type connTo struct {
	balancer.SubConn
	address string
}

// picking is a balancer whose calls a test ends as it likes.
type picking struct {
	t      *testing.T
	known  *members
	picker balancer.Picker
}

func newPicking(t *testing.T, addresses ...string) *picking {
	t.Helper()
	ready := make(map[balancer.SubConn]base.SubConnInfo)
	for _, a := range addresses {
		ready[&connTo{address: a}] = base.SubConnInfo{Address: resolver.Address{Addr: a}}
	}
	known := newMembers(func() int { return len(addresses) }, Config{RequestTimeout: time.Second})
	return &picking{t, known, new(pickerBuilder).Build(base.PickerBuildInfo{ReadySCs: ready})}
}

func (p *picking) pick(ctx context.Context, method string) (address string, done func(balancer.DoneInfo), err error) {
	result, err := p.picker.Pick(balancer.PickInfo{FullMethodName: method, Ctx: context.WithValue(ctx, membersKey{}, p.known)})
	if err != nil {
		return "", nil, err
	}
	return result.SubConn.(*connTo).address, result.Done, nil
}

// begin begins a call to a member of that address.
func (p *picking) begin(address string) (done func(balancer.DoneInfo)) {
	p.t.Helper()
	for range 100 {
		to, done, err := p.pick(p.t.Context(), pb.KV_Txn_FullMethodName)
		require.NoError(p.t, err)
		if to == address {
			return done
		}
	}
	p.t.Fatal("no call goes to", address)
	return nil
}

// goTo requires that calls go to these members alone, and to all of them as often.
func (p *picking) goTo(addresses ...string) {
	p.t.Helper()
	times := make(map[string]int)
	for range 2 * len(addresses) {
		to, _, err := p.pick(p.t.Context(), pb.KV_Txn_FullMethodName)
		require.NoError(p.t, err)
		times[to]++
	}
	for _, a := range addresses {
		require.Equal(p.t, 2, times[a], a)
	}
}

var (
	answered   = balancer.DoneInfo{BytesReceived: true}
	refused    = balancer.DoneInfo{BytesReceived: true, Err: status.Error(codes.PermissionDenied, "no")}
	noAnswer   = balancer.DoneInfo{Err: status.Error(codes.DeadlineExceeded, "time is up")}
	broken     = balancer.DoneInfo{Err: status.Error(codes.Unavailable, "the connection broke")}
	leaderless = balancer.DoneInfo{BytesReceived: true, Err: status.Error(codes.Unavailable, "etcdserver: request timed out")}
	halfAnswer = balancer.DoneInfo{BytesReceived: true, Err: status.Error(codes.DeadlineExceeded, "time is up")}
	neverSent  = balancer.DoneInfo{}
)

func TestWhichMemberIsSilent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after  time.Duration
		ends   balancer.DoneInfo
		silent bool
	}{
		"no answer":                   {time.Second, noAnswer, true},
		"the connection broke":        {time.Second, broken, true},
		"parted from the others":      {7 * time.Second, leaderless, true},
		"the caller had little time":  {time.Second / 4, noAnswer, false},
		"cannot be reached":           {0, broken, false},
		"no leader just now":          {0, leaderless, false},
		"a long answer":               {time.Second, halfAnswer, false},
		"a late answer":               {time.Minute, answered, false},
		"a refusal":                   {time.Second, refused, false},
		"the connection was not used": {time.Second, neverSent, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPicking(t, "a", "b", "c")
				done := p.begin("a")
				time.Sleep(test.after)
				done(test.ends)
				if test.silent {
					p.goTo("b", "c")
				} else {
					p.goTo("a", "b", "c")
				}
			})
		})
	}
}

func TestASilentMemberComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPicking(t, "a", "b", "c")
		first, second, third := p.begin("a"), p.begin("a"), p.begin("b")
		time.Sleep(time.Second)
		first(noAnswer)
		p.goTo("b", "c")
		second(answered)
		p.goTo("a", "b", "c")
		third(noAnswer)
		p.goTo("a", "c")
		time.Sleep(passedOverFor)
		p.goTo("a", "b", "c") // nobody asked it meanwhile
	})
}

// Of two calls of which a member answers one, the other one is slow for its own reasons.
func TestWhoAnswersSomethingIsNotSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPicking(t, "a", "b")
		slow, quick := p.begin("a"), p.begin("a")
		time.Sleep(time.Second)
		quick(answered)
		slow(noAnswer)
		p.goTo("a", "b")
	})
}

func TestIfAllAreSilentNoneIsPassedOver(t *testing.T) {
	t.Parallel()
	for _, all := range [][]string{{"a"}, {"a", "b", "c"}} {
		synctest.Test(t, func(t *testing.T) {
			p := newPicking(t, all...)
			var calls []func(balancer.DoneInfo)
			for _, a := range all {
				calls = append(calls, p.begin(a))
			}
			time.Sleep(time.Second)
			for _, done := range calls {
				done(noAnswer)
			}
			p.goTo(all...)
		})
	}
}

// A silent member is asked until it answers, so that no call has to try; one that is not connected for long is asked no more.
func TestASilentMemberIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(t.Context())
		p := newPicking(t, "a", "b")
		var asked atomic.Int64
		var answers, gone atomic.Bool
		p.known.begin(life, func(ctx context.Context, m *member) {
			asked.Add(1)
			if gone.Load() {
				return
			}
			to, done, err := p.pick(question(ctx, m), pb.KV_Range_FullMethodName)
			require.NoError(t, err)
			require.Equal(t, "a", to)
			for ctx.Err() == nil && !answers.Load() {
				time.Sleep(time.Second / 10)
			}
			if answers.Load() {
				done(answered)
			} else {
				done(noAnswer)
			}
		})
		fall := func() {
			first, second := p.begin("a"), p.begin("a")
			time.Sleep(time.Second)
			first(noAnswer)
			second(noAnswer)
			p.begin("b")(answered)
		}
		fall()
		time.Sleep(time.Minute) // longer than one is passed over that nobody asks
		p.goTo("b")
		require.EqualValues(t, 6, asked.Load(), "one question at a time")
		answers.Store(true)
		time.Sleep(questionPause / 2)
		p.goTo("b") // it has just woken
		time.Sleep(questionPause)
		p.goTo("a", "b")

		asked.Store(0)
		gone.Store(true)
		fall()
		time.Sleep(time.Minute)
		p.goTo("a", "b")
		require.EqualValues(t, passedOverFor/questionPause-1, asked.Load(), "each after a pause")

		gone.Store(false)
		answers.Store(false)
		fall()
		end()
		p.known.close()
		time.Sleep(passedOverFor)
		fall() // and nobody is asked any more
	})
}

// While the cluster has no leader, nobody answers. What is read then may stop the next leader for a second, so nobody asks
// either.
func TestNobodyIsAskedBeforeSomebodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(t.Context())
		p := newPicking(t, "a", "b", "c")
		asked := make(map[string]int)
		p.known.begin(life, func(_ context.Context, m *member) {
			p.known.mu.Lock()
			defer p.known.mu.Unlock()
			asked[m.address]++
		})
		for range 5 {
			calls := []func(balancer.DoneInfo){p.begin("a"), p.begin("b"), p.begin("c")}
			time.Sleep(time.Second)
			for _, done := range calls {
				done(noAnswer)
			}
		}
		synctest.Wait()
		require.Empty(t, asked)

		p.begin("b")(answered)
		time.Sleep(3 * questionPause / 2)
		end()
		p.known.close()
		require.Equal(t, map[string]int{"a": 1, "c": 1}, asked)
	})
}

// Only what is asked of one member goes there whatever is known, and a login that this takes does not.
func TestAQuestionGoesToOneMember(t *testing.T) {
	t.Parallel()
	p := newPicking(t, "a", "b")
	of := question(t.Context(), p.known.at("b"))
	var logins []string
	for range 4 {
		to, _, err := p.pick(of, pb.KV_Range_FullMethodName)
		require.NoError(t, err)
		require.Equal(t, "b", to)
		to, _, err = p.pick(of, pb.Auth_Authenticate_FullMethodName)
		require.NoError(t, err)
		logins = append(logins, to)
	}
	slices.Sort(logins)
	require.Equal(t, []string{"a", "b"}, slices.Compact(logins))
	_, _, err := p.pick(question(t.Context(), p.known.at("c")), pb.KV_Range_FullMethodName)
	require.Equal(t, codes.Unavailable, status.Code(err))
}

func BenchmarkPick(b *testing.B) {
	known := newMembers(func() int { return 3 }, Config{RequestTimeout: time.Second})
	ready := make(map[balancer.SubConn]base.SubConnInfo)
	for _, a := range []string{"a", "b", "c"} {
		ready[&connTo{address: a}] = base.SubConnInfo{Address: resolver.Address{Addr: a}}
	}
	picker := new(pickerBuilder).Build(base.PickerBuildInfo{ReadySCs: ready})
	b.ReportAllocs()
	b.RunParallel(func(calls *testing.PB) {
		for calls.Next() {
			ctx := context.WithValue(b.Context(), membersKey{}, known)
			result, err := picker.Pick(balancer.PickInfo{FullMethodName: pb.KV_Txn_FullMethodName, Ctx: ctx})
			if err != nil {
				b.Fatal(err)
			}
			result.Done(answered)
		}
	})
}
