package live

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

const (
	benchItems     = 3
	benchInstances = 20
)

// town is a namespace with many jobs, of which a minute's worth runs each minute.
type town struct {
	testing.TB
	reg     *memory.Registry
	session *registry.Session
	jobs    []string
	records [][benchItems]jobtree.Record
	next    int
}

func newTown(tb testing.TB, jobs int) *town {
	tb.Helper()
	reg := memory.NewServer().Open("bench", memory.WithTTL(time.Hour))
	tb.Cleanup(func() { _ = reg.Close(context.Background()) })
	session, err := reg.Session(tb.Context())
	require.NoError(tb, err)
	t := &town{TB: tb, reg: reg, session: session, records: make([][benchItems]jobtree.Record, jobs)}
	var txns []registry.Txn
	for i := range jobs {
		name := fmt.Sprintf("team-%02d-job-%05d", i%20, i)
		t.jobs = append(t.jobs, name)
		text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: fmt.Sprintf("%d * * * * ?", i%60), ShardingTotalCount: benchItems, Failover: true})
		require.NoError(tb, err)
		tree, owner := jobtree.For(name), t.instance(i)
		writes := []registry.Write{
			registry.Put(tree.Config(), text), registry.PutOwned(tree.Instance(owner), "", session),
			registry.PutOwned(tree.Leader(), owner, session),
		}
		for item := range benchItems {
			writes = append(writes, registry.Put(tree.ItemInstance(item), owner))
		}
		txns = append(txns, registry.Txn{Then: writes, Repeat: registry.RepeatHarmless})
	}
	for _, o := range reg.CommitAll(tb.Context(), txns) {
		require.NoError(tb, o.Err)
	}
	for range jobs * benchItems { // one run of each, and its end
		t.run()
	}
	return t
}

func (t *town) instance(i int) string { return fmt.Sprintf("10.0.0.%d@-@p", i%benchInstances) }

// run begins and ends a run of the next item.
func (t *town) run() {
	t.Helper()
	i, item := t.next/benchItems%len(t.jobs), t.next%benchItems
	t.next++
	tree, record := jobtree.For(t.jobs[i]), &t.records[i][item]
	now := time.Now()
	begun, err := record.Begin(jobtree.Begin{
		Instance: t.instance(i), Session: t.session.ID(), Source: job.Scheduled, Fire: now, Time: now, Failover: true, Round: "r" + t.jobs[i],
	})
	require.NoError(t, err)
	revision, err := t.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(begun)), registry.PutOwned(tree.ItemRunning(item), "", t.session),
	}, Repeat: registry.RepeatHarmless})
	require.NoError(t, err)
	*record, err = begun.End(jobtree.End{Token: int64(revision), Time: now.Add(time.Millisecond), Outcome: jobtree.Success})
	require.NoError(t, err)
	_, err = t.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(*record)), registry.Delete(tree.ItemRunning(item)),
	}, Repeat: registry.RepeatHarmless})
	require.NoError(t, err)
}

func (t *town) hub() *Hub {
	t.Helper()
	h, err := Open(t.Context(), Config{Registry: t.reg, Namespace: "shop"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = h.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-over
		h.Close()
	})
	return h
}

// serve serves the streams of a hub over loopback, each reader being somebody else.
func serve(tb testing.TB, h *Hub) (address string) {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := anna
		who.Name = r.URL.Query().Get("who")
		h.Events().ServeHTTP(w, r.WithContext(access.NewContext(r.Context(), who)))
	}))
	tb.Cleanup(server.Close)
	tb.Cleanup(h.Close)
	return server.Listener.Addr().String()
}

// dial opens a stream and returns what comes.
func dial(tb testing.TB, address, query string) net.Conn {
	tb.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(tb, err)
	_, err = io.WriteString(conn, "GET /events?"+query+" HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(tb, err)
	return conn
}

func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var use syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func memoryInUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse+m.StackInuse) / (1 << 20)
}

// One iteration is a second in which 500 items run, as of 10,000 jobs that fire each minute. The processor's time
// includes the readers, the registry and who runs the jobs; "idle-cores" is that without a hub and readers.
func BenchmarkReaders(b *testing.B) {
	const readers, jobs, runs = 1_000, 10_000, 500
	t := newTown(b, jobs)
	second := func() {
		began := time.Now()
		for i := range runs {
			t.run()
			if wait := time.Duration(i)*time.Second/runs - time.Since(began); wait > 0 {
				time.Sleep(wait)
			}
		}
		time.Sleep(time.Second - time.Since(began))
	}
	bare := memoryInUse()
	began, used := time.Now(), cpu(b)
	second()
	idle := float64(cpu(b)-used) / float64(time.Since(began))
	h := t.hub()
	alone := memoryInUse()
	address := serve(b, h)
	for i := range readers {
		query := fmt.Sprintf("who=u%d&topic=overview", i)
		switch {
		case i%10 == 0:
			query = fmt.Sprintf("who=u%d&topic=job/%s", i, t.jobs[i])
		case i%3 == 0:
			at := i % 20 * 50
			query = fmt.Sprintf("who=u%d&topic=jobs&window=%s", i, strings.Join(t.jobs[at:at+50], "&window="))
		}
		conn := dial(b, address, query)
		b.Cleanup(func() { _ = conn.Close() })
		go func() { _, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, conn, make([]byte, 4096)) }()
	}
	for h.cfg.Limits.Streams() < readers {
		time.Sleep(10 * time.Millisecond)
	}
	second()
	began, used = time.Now(), cpu(b)
	for b.Loop() {
		second()
	}
	b.ReportMetric(float64(cpu(b)-used)/float64(time.Since(began)), "cores")
	b.ReportMetric(idle, "idle-cores")
	b.ReportMetric(alone-bare, "hub-MiB")
	b.ReportMetric(memoryInUse()-bare, "MiB")
	b.ReportMetric(float64(h.cfg.Limits.Streams()), "readers")
	b.ReportMetric(0, "ns/op")
}

// From the commit of a begin until a reader of the job has read its frame, of 10,000 jobs, while nothing else happens.
func BenchmarkCommitToFrame(b *testing.B) {
	t := newTown(b, 10_000)
	address := serve(b, t.hub())
	conn := dial(b, address, "who=u&topic=job/"+t.jobs[0])
	b.Cleanup(func() { _ = conn.Close() })
	lines := bufio.NewReader(conn)
	reads := func(event string) {
		for {
			line, err := lines.ReadString('\n')
			require.NoError(b, err)
			if strings.HasPrefix(line, event) {
				return
			}
		}
	}
	reads("event: alive")
	var all []time.Duration
	for b.Loop() {
		t.next = 0
		began := time.Now()
		t.run()
		reads("event: job/")
		all = append(all, time.Since(began))
		b.StopTimer()
		time.Sleep(frameEvery + 50*time.Millisecond) // as else the frame would wait for its turn
		b.StartTimer()
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)*99/100].Milliseconds()), "p99-ms")
}

// What a tick costs for the overview, its encoding included.
func BenchmarkOverviewOf10000Jobs(b *testing.B) {
	t := newTown(b, 10_000)
	h := t.hub()
	h.mu.Lock()
	defer h.mu.Unlock()
	for b.Loop() {
		_ = encode(h.overview(wholeScope, time.Now()))
	}
}
