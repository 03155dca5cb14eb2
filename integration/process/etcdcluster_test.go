//go:build linux

package process_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/ports"
	"github.com/elasticron/elasticron/integration/proxy"
)

// etcdCluster is an etcd cluster of which each member is a process.
type etcdCluster struct {
	t       *testing.T
	dir     string
	members []*member
}

// member is one of them: always at the same place, in one process after the other.
type member struct {
	set     etcdserver.Member
	process *child
	client  *clientv3.Client // to look after this member alone
	network *proxy.Proxy     // through which the other members reach it
	id      uint64           // as the cluster knows it
}

// startEtcdCluster starts a cluster of n members and returns when all serve clients.
func startEtcdCluster(t *testing.T, dir string, n int) *etcdCluster {
	t.Helper()
	return startEtcdClusterOf(t, dir, n, etcdserver.Member{})
}

// startEtcdClusterOf is startStore for members that have some settings in common.
func startEtcdClusterOf(t *testing.T, dir string, n int, common etcdserver.Member) *etcdCluster {
	t.Helper()
	s := &etcdCluster{t: t, dir: dir}
	var all []string
	for i := range n {
		set := common
		set.Name, set.Client, set.Peer = fmt.Sprintf("member%d", i+1), freeAddress(t), freeAddress(t)
		set.Dir = filepath.Join(t.TempDir(), set.Name)
		m := &member{set: set, client: newClient(t, set.Client), network: proxy.StartNamed(t, set.Peer, peerOf)}
		m.set.Advertised = m.network.Address()
		all = append(all, set.Name+"=http://"+m.set.Advertised)
		s.members = append(s.members, m)
	}
	for _, m := range s.members {
		m.set.Cluster = strings.Join(all, ",")
		s.launch(m)
	}
	for _, m := range s.members {
		require.NoError(t, m.process.awaitReady())
		status, err := m.client.Status(t.Context(), m.set.Client)
		require.NoError(t, err)
		m.id = status.Header.MemberId
	}
	return s
}

func (s *etcdCluster) launch(m *member) {
	command, err := etcdserver.MemberCommand(m.set)
	require.NoError(s.t, err)
	m.process = launch(s.t, s.dir, m.set.Name, command)
}

// addresses returns where clients find the members.
func (s *etcdCluster) addresses() []string {
	var all []string
	for _, m := range s.members {
		all = append(all, m.set.Client)
	}
	return all
}

// awaitLeader returns the member that leads, and waits for one while there is none.
func (s *etcdCluster) awaitLeader() (leader *member) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		var leads bool
		leader, leads = s.asksForLeader()
		return leads
	}, waitTimeout, 20*time.Millisecond, "no member leads")
	return leader
}

// leader returns the member that leads, or another one if none says so in time.
func (s *etcdCluster) leader() *member {
	leader, _ := s.asksForLeader()
	return leader
}

// asksForLeader tells which member says that it leads; some one, and false, if none does.
func (s *etcdCluster) asksForLeader() (leader *member, leads bool) {
	for _, m := range s.members {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		status, err := m.client.Status(ctx, m.set.Client)
		cancel()
		if err == nil && status.Leader == status.Header.MemberId {
			return m, true
		}
	}
	return s.members[0], false
}

// crash kills members all at once.
func (s *etcdCluster) crash(members ...*member) {
	for _, m := range members {
		m.process.signal(syscall.SIGKILL)
	}
	for _, m := range members {
		<-m.process.gone
	}
}

// restart starts members again, with their data and at their places.
func (s *etcdCluster) restart(members ...*member) {
	for _, m := range members {
		s.launch(m)
	}
}

// awaitService returns when some member serves reads that need a majority.
func (s *etcdCluster) awaitService() error {
	for deadline := time.Now().Add(4 * waitTimeout); ; {
		err := s.askAll()
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// askAll asks all members at once, and returns with the first that serves.
func (s *etcdCluster) askAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // on a busy machine answers take their time
	defer cancel()
	answers := make(chan error, len(s.members))
	for _, m := range s.members {
		go func() {
			_, err := m.client.Get(ctx, "/")
			answers <- err
		}()
	}
	var faults []error
	for range s.members {
		err := <-answers
		if err == nil {
			return nil
		}
		faults = append(faults, err)
	}
	return fmt.Errorf("the store does not serve: %w", errors.Join(faults...))
}

// stop ends all members in order.
func (s *etcdCluster) stop() {
	for _, m := range s.members {
		m.process.term(func(int) bool { return false })
	}
}

// newClient returns a client of one address.
func newClient(t *testing.T, address string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, Logger: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// freeAddress returns a loopback address that is this process's own.
func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := ports.Claim(1)
	require.NoError(t, err)
	return "127.0.0.1:" + port[0]
}
