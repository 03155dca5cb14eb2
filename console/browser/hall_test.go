package browser

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console"
	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// hall is the real server over a registry in memory, in which the test writes itself what instances would.
type hall struct {
	tb      testing.TB
	url     string // on loopback, without TLS and what stands before it
	reg     *memory.Registry
	records map[int]jobtree.Record
	session registry.SessionID
}

// newHall starts a server with the job orders, of so many items, and an instance that leads it. past is what its history
// tells, the newest first.
func newHall(tb testing.TB, items int, who access.Config, past ...history.Execution) *hall {
	tb.Helper()
	// Who looks at the heap means what the server keeps, and not the commits of the store.
	store := memory.NewServer(memory.WithHistory(16))
	h := &hall{tb: tb, reg: store.Open("shop", memory.WithTTL(time.Hour)), records: make(map[int]jobtree.Record)}
	tb.Cleanup(func() { require.NoError(tb, h.reg.Close(context.Background())) })
	session, err := h.reg.Session(tb.Context())
	require.NoError(tb, err)
	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "0 0 3 * * ?", ShardingTotalCount: items})
	require.NoError(tb, err)
	tree := jobtree.For("orders")
	writes := []registry.Write{registry.Put(tree.Config(), text), registry.PutOwned(tree.Instance(first), "", session), registry.PutOwned(tree.Leader(), first, session)}
	for item := range items {
		writes = append(writes, registry.Put(tree.ItemInstance(item), first))
	}
	h.commit(writes...)
	shop := console.Namespace{Name: "shop", Registry: h.reg}
	if len(past) > 0 {
		shop.History = told{rows: past}
	}
	c, err := console.New(tb.Context(), console.Config{Namespaces: []console.Namespace{shop}, Access: who})
	require.NoError(tb, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	h.url = "http://" + listener.Addr().String() + who.Prefix
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- c.Serve(ctx, small{listener}, nil) }()
	tb.Cleanup(func() { stop(); require.NoError(tb, <-served) })
	return h
}

// told is a history that has some executions.
type told struct {
	history.Reader
	rows []history.Execution
}

func (p told) Executions(_ context.Context, q history.ExecutionQuery) (history.Page[history.Execution], error) {
	from := min(len(p.rows), (q.Page-1)*q.PerPage)
	return history.Page[history.Execution]{Rows: p.rows[from:min(len(p.rows), from+q.PerPage)], Total: len(p.rows)}, nil
}

// small has connections that hold little of what nobody reads.
type small struct{ net.Listener }

func (s small) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if tcp, is := c.(*net.TCPConn); is {
		_ = tcp.SetWriteBuffer(32 << 10)
	}
	return c, err
}

func (h *hall) commit(writes ...registry.Write) {
	h.tb.Helper()
	for some := range slices.Chunk(writes, 100) {
		_, err := h.reg.Commit(h.tb.Context(), registry.Txn{Then: some})
		require.NoError(h.tb, err)
	}
}

// run writes that items ran at a time, each for a second, and how it ended.
func (h *hall) run(at time.Time, outcome jobtree.Outcome, text string, items ...int) {
	h.tb.Helper()
	var writes []registry.Write
	for _, item := range items {
		r, err := h.records[item].Begin(jobtree.Begin{Instance: first, Session: 7, Source: job.Scheduled, Fire: at, Time: at, Round: "round-" + fmt.Sprint(at.Unix())})
		require.NoError(h.tb, err)
		r, err = r.End(jobtree.End{Token: at.UnixMilli(), Time: at.Add(time.Second), Outcome: outcome, Error: text})
		require.NoError(h.tb, err)
		h.records[item] = r
		writes = append(writes, registry.Put(jobtree.For("orders").ItemRecord(item), jobtree.EncodeRecord(r)))
	}
	h.commit(writes...)
}

// metric is what the server says of itself.
func (h *hall) metric(name string) (value float64) {
	h.tb.Helper()
	answer, err := http.Get(h.url + "/metrics")
	require.NoError(h.tb, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(h.tb, err)
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, name+" "); is {
			_, err := fmt.Sscan(rest, &value)
			require.NoError(h.tb, err)
			return value
		}
	}
	require.Fail(h.tb, "there is no such metric", name)
	return 0
}

// usersFile lets in anna, who may do everything, by password and as a provider knows her.
func usersFile(tb testing.TB) string {
	tb.Helper()
	hash, err := access.HashPassword(password)
	require.NoError(tb, err)
	path := filepath.Join(tb.TempDir(), "users.yaml")
	require.NoError(tb, os.WriteFile(path, []byte("users:\n  anna: {password: '"+hash+"', grants: [{role: admin, namespace: '*'}]}\n"+
		"groups:\n  sre: {grants: [{role: operator, namespace: shop}]}\n  "+
		strings.Join(teams(), ": {grants: [{role: viewer, namespace: shop}]}\n  ")+": {grants: [{role: viewer, namespace: shop}]}\n"), 0o600))
	return path
}
