package bench_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/serverprocess"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// What an execution costs over ZooKeeper beside the same over etcd, in one interleaved run: how many run a second
// while more are due than can run, how many requests the processes send for each, and what it takes of the
// processors, here and in the server; of ZooKeeper also of how many changes its server tells, and how many bytes go
// both ways. Both servers force their logs to the disk. Three processes share the items of each job, so each hears of
// what the others write.
func BenchmarkStores(b *testing.B) {
	for _, processes := range []int{1, 3} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			jobs, items := 100, 10
			if *large {
				jobs = 1_000
			}
			all := []*stand{newEtcdStand(b), newZooKeeperStand(b)}
			for _, s := range all {
				s.crowd = newSharedCrowd(b, processes, jobs, items, s.open)
				s.crowd.fire() // the first time, memory and buffers grow, and Java compiles
				s.measure()
				s.forget()
			}
			for b.Loop() {
				for _, s := range all {
					s.measure()
				}
			}
			hideTime(b)
			for _, s := range all {
				s.report(b)
				s.crowd.stop()
			}
			reportRatio(b, all[0].took.median(), all[1].took.median(), "zookeeper-to-etcd")
		})
	}
}

// stand is a store and what was measured over it.
type stand struct {
	name     string
	open     func(b *testing.B) handle
	pid      int // of the server
	crowd    *crowd
	requests *atomic.Int64 // that the processes sent
	received traffic       // zero of etcd

	executions     int
	took           sample
	sent           int64
	events, bytes  int64
	worker, server time.Duration // of the processors
}

func newEtcdStand(b *testing.B) *stand {
	b.Helper()
	server, err := etcdserver.Start(b.Context())
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Close()) })
	s := &stand{name: "etcd", pid: server.PID(), requests: new(atomic.Int64)}
	count := func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		s.requests.Add(1)
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	namespace := newNamespace()
	s.open = func(b *testing.B) handle {
		b.Helper()
		reg, err := etcd.Open(b.Context(), etcd.Config{
			Endpoints: server.Endpoints(), Namespace: namespace, RequestTimeout: 10 * time.Second,
			SessionTTL: 30 * time.Second, DialTimeout: time.Minute, DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(count)},
		})
		require.NoError(b, err)
		return reg
	}
	return s
}

func newZooKeeperStand(b *testing.B) *stand {
	b.Helper()
	zookeeper.Need(b)
	server, err := zookeeper.Launch(b.Context(), zookeeper.WithForcedSync(), zookeeper.WithHeap("512m"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Close()) })
	s := &stand{name: "zookeeper", pid: server.PID(), requests: new(atomic.Int64)}
	namespace := newNamespace()
	s.open = func(b *testing.B) handle {
		b.Helper()
		reg, err := zkcompat.Open(b.Context(), zkcompat.Config{
			Servers: server.Addresses(), Namespace: namespace, SessionTimeout: 30 * time.Second, ConnectionTimeout: time.Minute,
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				return &countedFrames{Conn: conn, count: s.requests, received: &s.received}, err
			},
		})
		require.NoError(b, err)
		return reg
	}
	return s
}

// traffic is what went over connections to ZooKeeper.
type traffic struct {
	events atomic.Int64 // that the server sent
	bytes  atomic.Int64 // both ways
}

// countedFrames counts what a client of ZooKeeper sends, and what it is told.
type countedFrames struct {
	net.Conn
	count    *atomic.Int64
	received *traffic
	rest     int    // of the frame that is being written
	head     []byte // of the frame that is being read, until its number is known
	skip     int    // how much follows of it then
}

// Read implements [net.Conn].
func (c *countedFrames) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.bytes.Add(int64(n))
	const head = 8 // the length, and the number
	for p := p[:n]; len(p) > 0; {
		if c.skip > 0 {
			skipped := min(c.skip, len(p))
			c.skip, p = c.skip-skipped, p[skipped:]
			continue
		}
		wanted := min(head-len(c.head), len(p))
		c.head, p = append(c.head, p[:wanted]...), p[wanted:]
		if len(c.head) < head {
			break
		}
		if int32(binary.BigEndian.Uint32(c.head[4:])) == -1 {
			c.received.events.Add(1)
		}
		c.skip = int(binary.BigEndian.Uint32(c.head)) - 4
		c.head = c.head[:0]
	}
	return n, err
}

func (c *countedFrames) Write(p []byte) (int, error) {
	for at := c.rest; ; {
		if at+4 > len(p) {
			c.rest = at - len(p)
			break
		}
		c.count.Add(1)
		at += 4 + int(binary.BigEndian.Uint32(p[at:]))
	}
	c.received.bytes.Add(int64(len(p)))
	return c.Conn.Write(p)
}

// measure has the jobs fire once.
func (s *stand) measure() {
	b := s.crowd.b
	b.Helper()
	at := s.crowd.aim()
	time.Sleep(time.Until(at))
	sent, worker, server := s.requests.Load(), processorsHere(b), processorsOf(b, s.pid)
	events, bytes := s.received.events.Load(), s.received.bytes.Load()
	r := receive(b, s.crowd.rounds.done)
	s.events += s.received.events.Load() - events
	s.bytes += s.received.bytes.Load() - bytes
	s.worker += processorsHere(b) - worker
	s.server += processorsOf(b, s.pid) - server
	s.sent += s.requests.Load() - sent
	s.executions += s.crowd.rounds.items
	s.took.add(r.took())
}

func (s *stand) forget() {
	s.executions, s.sent, s.worker, s.server, s.took = 0, 0, 0, 0, sample{}
	s.events, s.bytes = 0, 0
}

func (s *stand) report(b *testing.B) {
	b.Helper()
	n := float64(s.executions)
	b.ReportMetric(float64(s.crowd.rounds.items)/s.took.median().Seconds(), s.name+"/s")
	b.ReportMetric(float64(s.sent)/n, s.name+"-requests")
	if s.bytes > 0 {
		b.ReportMetric(float64(s.events)/n, s.name+"-events")
		b.ReportMetric(float64(s.bytes)/n, s.name+"-bytes")
	}
	b.ReportMetric(s.worker.Seconds()*1000/n, s.name+"-worker-cpu-ms")
	b.ReportMetric(s.server.Seconds()*1000/n, s.name+"-server-cpu-ms")
}

// processorsHere returns how long this process has had a processor.
func processorsHere(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// processorsOf returns how long another process has had one.
func processorsOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	used, err := serverprocess.ProcessorTime(pid)
	require.NoError(b, err)
	return used
}
