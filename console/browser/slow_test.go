package browser

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// valve is a line to a server that lets through what the server says, or nothing of it.
type valve struct {
	mu    sync.Mutex
	open  *sync.Cond
	shut  bool
	ended bool
}

// newValve opens a line, and returns the address of its other end.
func newValve(t *testing.T, to string) (v *valve, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	v = &valve{}
	v.open = sync.NewCond(&v.mu)
	var lines sync.WaitGroup
	var conns []net.Conn
	lines.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			_ = server.(*net.TCPConn).SetReadBuffer(32 << 10)
			v.mu.Lock()
			conns = append(conns, client, server)
			v.mu.Unlock()
			lines.Go(func() { pass(server, client, func() {}) })
			lines.Go(func() { pass(client, server, v.wait) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		v.mu.Lock()
		v.ended = true
		v.open.Broadcast()
		for _, c := range conns {
			_ = c.Close()
		}
		v.mu.Unlock()
		lines.Wait()
	})
	return v, listener.Addr().String()
}

// pass copies until one end is closed.
func pass(to, from net.Conn, each func()) {
	defer to.Close()
	defer from.Close()
	text := make([]byte, 8<<10)
	for {
		n, err := from.Read(text)
		each()
		if _, failed := to.Write(text[:n]); err != nil || failed != nil {
			return
		}
	}
}

// wait waits until the line is open.
func (v *valve) wait() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.shut && !v.ended {
		v.open.Wait()
	}
}

func (v *valve) set(shut bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut = shut
	v.open.Broadcast()
}

// A reader whose line stands still is cut off while much happens, so that the server keeps a few frames for them and no more,
// also when they come back and stand still again. Their page says that it is old; when the line is back, it shows the same as
// that of a reader who was there all the time.
func TestASlowReader(t *testing.T) {
	t.Parallel()
	const items = 300
	h := newHall(t, items, access.Config{})
	v, address := newValve(t, strings.TrimPrefix(h.url, "http://"))
	slow, quick := look(t), look(t)
	slow.open("http://" + address + "/ns/shop/jobs/orders")
	quick.open(h.url + "/ns/shop/jobs/orders")
	all := make([]int, items)
	for i := range all {
		all[i] = i
	}
	began := time.Now().Add(-10 * time.Minute)
	rounds := 0
	round := func(text string) {
		rounds++
		h.run(began.Add(time.Duration(rounds)*time.Second), jobtree.Failure, text, all...)
	}
	round("the first word")
	for _, tab := range []*tab{slow, quick} {
		tab.sees("#items", "the first word")
		tab.live()
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	// The timeline keeps two thousand spans, however many there were.
	for range 10 {
		round("before")
	}
	before := heap()
	v.set(true)
	const enough = 60 // rounds of some 150 KB, of which the line takes less than one
	var deadline time.Time
	for i := 0; i < enough || h.metric(`elasticron_console_streams_cut_total{registry_namespace="shop"}`) == 0; i++ {
		if i == enough { // however long they took
			deadline = time.Now().Add(3 * patience)
		}
		require.True(t, i < enough || time.Now().Before(deadline), "a reader who does not read is not cut off")
		round(fmt.Sprint("meanwhile ", i, strings.Repeat(".", 400)))
		time.Sleep(100 * time.Millisecond) // a frame is made every 250 ms
	}
	grown := heap() - before
	t.Logf("%d rounds of %d items while a reader stood still: the heap grew by %.1f MiB", rounds, items, float64(grown)/(1<<20))
	require.Less(t, grown, int64(64<<20))
	require.LessOrEqual(t, h.metric("elasticron_console_streams"), 3.0)
	slow.sees("#banner", "no connection to the server")
	round("the last word")
	quick.sees("#items", "the last word")
	quick.lacks("#banner")
	v.set(false)
	slow.sees("#items", "the last word")
	slow.lacks("#banner")
	slow.live()
	same := `[...document.querySelectorAll("#items .error")].map(e => e.textContent).join() + document.querySelectorAll(".lane, .label").length`
	require.Equal(t, value[string](quick, same), value[string](slow, same))
}
