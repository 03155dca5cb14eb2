//go:build linux

package process_test

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticron/elasticron/registry/etcd"
)

// faults implements [victimStore].
func (s *etcdCluster) faults() []fault {
	return []fault{killStoreLeader, restartStore, freezeMember, isolateLeader, isolateMember, fillStore}
}

// inject implements [victimStore].
func (s *etcdCluster) inject(c *chaos, a action) {
	members := s.members
	switch a.fault {
	case killStoreLeader:
		members = []*member{s.leader()}
		c.down(func() { s.crash(members...) })
		time.Sleep(a.lasts)
		s.restart(members...)
	case restartStore:
		began := now().time()
		c.down(func() {
			s.crash(members...)
			s.restart(members...)
		})
		c.recordAbsence(began)
	case freezeMember:
		members = []*member{s.leader()}
		if a.n%2 == 0 {
			members = s.members[a.n%len(s.members):][:1]
		}
		s.freeze(c, members[0], a.lasts)
	case isolateLeader:
		c.down(func() { s.isolate(s.leader(), a) })
	case isolateMember:
		c.down(func() { s.isolate(s.members[a.n%len(s.members)], a) })
	case fillStore:
		c.down(func() { s.fill(a.lasts) })
	}
	for _, m := range members {
		if err := m.process.awaitReady(); err != nil {
			c.t.Error(err)
		}
	}
}

// freeze has a member of the store stand still for a time. Requests that went to it are given up
// one after the other, each with more patience than the one before, though other members serve.
func (s *etcdCluster) freeze(c *chaos, m *member, lasts time.Duration) {
	leader, known := s.asksForLeader()
	led := leader == m || !known // none said so in time, and then it may be any
	c.recordSlow(lasts, etcd.DefaultRequestTimeout)
	c.down(func() {
		m.process.signal(syscall.SIGSTOP)
		time.Sleep(lasts)
		if led {
			c.recordThaw(now().time())
		}
		m.process.signal(syscall.SIGCONT)
	})
}

// isolate parts a member from the others for a time, while clients reach it as ever: in both
// directions, or so that it is not heard, or does not hear. What it sent meanwhile arrives afterwards,
// also requests of clients that have long been answered by another member.
func (s *etcdCluster) isolate(m *member, a action) {
	heal := s.part(m, a.n)
	time.Sleep(a.lasts)
	heal()
}

// part parts a member from the others, in a way that a number decides, until it is healed.
func (s *etcdCluster) part(m *member, n int) (heal func()) {
	in, out := s.around(m)
	switch n % 3 {
	case 0:
		in.Cut()
		out.Cut()
	case 1: // it is not heard: neither by those who called it, nor by those whom it calls
		in.CutDown()
		out.CutUp()
	case 2:
		in.CutUp()
		out.CutDown()
	}
	return func() {
		in.Heal()
		out.Heal()
	}
}

// networks are several that the same is done to.
type networks []interface {
	Cut()
	CutUp()
	CutDown()
	Heal()
}

func (all networks) Cut() {
	for _, n := range all {
		n.Cut()
	}
}

func (all networks) CutUp() {
	for _, n := range all {
		n.CutUp()
	}
}

func (all networks) CutDown() {
	for _, n := range all {
		n.CutDown()
	}
}

func (all networks) Heal() {
	for _, n := range all {
		n.Heal()
	}
}

// around returns the networks between a member and the others: those of calls to it, and of its calls.
func (s *etcdCluster) around(m *member) (in, out networks) {
	for _, other := range s.members {
		if other == m {
			in = append(in, m.network)
			continue
		}
		out = append(out, other.network.From(memberName(m.id)))
	}
	return in, out
}

// peerOf returns which member of etcd opened a connection to another: each of its calls says so in its
// header.
func peerOf(first []byte) string {
	_, after, ok := strings.Cut(string(first), "X-Server-From: ")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(after, "\r\n")
	return name
}

func memberName(id uint64) string { return strconv.FormatUint(id, 16) }

// fill has the store be out of space for a time. The alarm is what makes etcd refuse every put and
// every new lease; it is raised here as a member raises it whose quota is used up.
func (s *etcdCluster) fill(lasts time.Duration) {
	s.alarm(pb.AlarmRequest_ACTIVATE)
	time.Sleep(lasts)
	s.alarm(pb.AlarmRequest_DEACTIVATE)
}

// alarm raises the alarm or takes it back.
func (s *etcdCluster) alarm(action pb.AlarmRequest_AlarmAction) {
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := pb.NewMaintenanceClient(s.members[0].client.ActiveConnection()).Alarm(ctx,
			&pb.AlarmRequest{Action: action, MemberID: s.members[0].id, Alarm: pb.AlarmType_NOSPACE})
		cancel()
		if err == nil {
			return
		}
	}
	s.t.Errorf("the store did not take the alarm %s", action)
}

// TestAnIsolatedMemberServesNobody shows that the networks around a member part it from the others,
// and that it hears of everything when they heal.
func TestAnIsolatedMemberServesNobody(t *testing.T) {
	t.Parallel()
	s := startEtcdCluster(t, t.ArtifactDir(), 3)
	for n := range 3 {
		leader := s.awaitLeader()
		follower := s.members[0]
		if follower == leader {
			follower = s.members[1]
		}
		heal := s.part(leader, n)
		require.Eventually(t, func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			status, err := follower.client.Status(ctx, follower.set.Client)
			return err == nil && status.Leader != 0 && status.Leader != leader.id
		}, waitTimeout, 20*time.Millisecond, "the others elect another leader (%d)", n)
		require.Eventually(t, func() bool { // on a busy machine they may elect once more
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := follower.client.Put(ctx, "/key", strconv.Itoa(n))
			return err == nil
		}, waitTimeout, 20*time.Millisecond, "the others serve (%d)", n)
		heal()
		require.Eventually(t, func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			got, err := leader.client.Get(ctx, "/key")
			return err == nil && len(got.Kvs) == 1 && string(got.Kvs[0].Value) == strconv.Itoa(n)
		}, waitTimeout, 20*time.Millisecond, "it follows again (%d)", n)
	}
	s.stop()
}

// TestAFullStoreRefuses shows that the alarm does what a full disk does.
func TestAFullStoreRefuses(t *testing.T) {
	t.Parallel()
	s := startEtcdCluster(t, t.ArtifactDir(), 1)
	client := s.members[0].client
	s.alarm(pb.AlarmRequest_ACTIVATE)
	_, err := client.Put(t.Context(), "/key", "value")
	require.ErrorContains(t, err, "space exceeded")
	s.alarm(pb.AlarmRequest_DEACTIVATE)
	_, err = client.Put(t.Context(), "/key", "value")
	require.NoError(t, err)
	s.stop()
}
