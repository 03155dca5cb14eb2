package dump_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/dump"
	"github.com/elasticron/elasticron/scheduler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func seen(path, value string) scheduler.DumpNode {
	return scheduler.DumpNode{Path: path, Value: value, Seen: true, SeenValue: value}
}

func orders() scheduler.Dump {
	return scheduler.Dump{Job: "orders", Revision: 9, ViewRevision: 8, Nodes: []scheduler.DumpNode{
		seen("/orders/config", `{"jobName":"orders","jobParameter":"key \"k\"","scriptCommandLine":"/opt/x","failover":true}`),
		seen("/orders/instances/192.168.1.100@-@7", ""),
		seen("/orders/instances/192.168.1.15@-@7", ""),
		{Path: "/orders/leader/election/instance", Value: "192.168.1.100@-@7"},
		seen("/orders/offset/1", "row 17"),
		{Path: "/orders/sharding/0/instance", Value: "192.168.1.1@-@7", Seen: true, SeenValue: "192.168.1.15@-@7"},
		seen("/orders/sharding/10/instance", "192.168.1.15@-@7"),
		seen("/orders/sharding/2/instance", "192.168.1.15@-@7"),
	}}
}

const whole = `/orders/sharding | 
/orders/sharding/2 | 
/orders/sharding/2/instance | ip1@-@7
/orders/sharding/10 | 
/orders/sharding/10/instance | ip1@-@7
/orders/sharding/0 | 
/orders/sharding/0/instance | ip2@-@7 | /orders/sharding/0/instance | ip1@-@7
/orders/offset | 
/orders/offset/1 | row 17
/orders/leader | 
/orders/leader/election | 
/orders/leader/election/instance | ip3@-@7 |  | 
/orders/instances | 
/orders/instances/ip1@-@7 | 
/orders/instances/ip3@-@7 | 
/orders/config | {"jobName":"orders","jobParameter":"key \"k\"","scriptCommandLine":"/opt/x","failover":true}
`

// serve runs a server over a source, and returns how to send it a line.
func serve(t *testing.T, shelf dump.Shelf, opts ...dump.Option) (ask func(line string) string) {
	t.Helper()
	server, err := dump.ListenTo(shelf, "127.0.0.1:0", opts...)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return func(line string) string {
		connection, err := net.Dial("tcp", server.Addr().String())
		require.NoError(t, err)
		defer connection.Close()
		_, err = io.WriteString(connection, line)
		require.NoError(t, err)
		text, _ := io.ReadAll(connection) // a connection that is closed early may be reset
		return string(text)
	}
}

func TestTheFormatOfTheMonitorPort(t *testing.T) {
	t.Parallel()
	ask := serve(t, dump.Shelf{"orders": orders()}, dump.WithSecrets())
	for _, line := range []string{"dump\n", "DUMP\r\n", "dump@orders\n", "Dump@orders\n"} {
		require.Equal(t, whole, ask(line), "%q", line)
	}
	for _, line := range []string{"\n", "dumps\n", "dump@bills\n", "dump@\n", "get\n", strings.Repeat("d", 2000) + "\n"} {
		require.Empty(t, ask(line), "%q", line)
	}
	var d scheduler.Dump
	require.NoError(t, json.Unmarshal([]byte(ask("json@orders\n")), &d))
	require.Len(t, d.Nodes, 8)
	require.Equal(t, int64(9), d.Revision)
}

func TestWhichJobTheBareWordMeans(t *testing.T) {
	t.Parallel()
	two := dump.Shelf{"orders": orders(), "bills": {Job: "bills", Nodes: []scheduler.DumpNode{seen("/bills/config", "{}")}}}
	require.Empty(t, serve(t, two)("dump\n"), "there are two")
	require.Equal(t, "/bills/config | {}\n", serve(t, two, dump.WithJob("bills"))("dump\n"))
}

func TestWhatIsMasked(t *testing.T) {
	t.Parallel()
	plain := serve(t, dump.Shelf{"orders": orders()}, dump.WithAddresses())("dump\n")
	require.Contains(t, plain, "/orders/sharding/0/instance | 192.168.1.1@-@7 | /orders/sharding/0/instance | 192.168.1.15@-@7\n")
	masked := serve(t, dump.Shelf{"orders": orders()})("dump\n")
	require.Contains(t, masked, `/orders/config | {"jobName":"orders","jobParameter":"***","scriptCommandLine":"***","failover":true}`)
	require.Contains(t, masked, "/orders/offset/1 | ***\n")
	require.NotContains(t, serve(t, dump.Shelf{"orders": orders()})("json\n"), "row 17")
	lagging := scheduler.Dump{Job: "orders", Nodes: []scheduler.DumpNode{{Path: "/orders/offset/1", Value: "18", Seen: true, SeenValue: "17"}}}
	require.Contains(t, serve(t, dump.Shelf{"orders": lagging})("dump\n"), "| *** | /orders/offset/1 | *** (differs in what is hidden)\n")
}

func TestAJobWithoutAName(t *testing.T) {
	t.Parallel()
	_, err := dump.ListenTo(dump.Shelf{}, "127.0.0.1:0", dump.WithJob(""))
	require.ErrorIs(t, err, dump.ErrInvalidOption)
	require.ErrorContains(t, err, "the job's name is empty")
}

func TestOnlyLoopbackUnlessAsked(t *testing.T) {
	t.Parallel()
	_, err := dump.ListenTo(dump.Shelf{}, "0.0.0.0:0")
	require.ErrorIs(t, err, dump.ErrNotLoopback)
	server, err := dump.ListenTo(dump.Shelf{}, "0.0.0.0:0", dump.WithAnyAddress())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, server.Serve(ctx))
}

// Clients that say nothing hold up neither the others nor the end.
func TestSilentClients(t *testing.T) {
	t.Parallel()
	server, err := dump.ListenTo(dump.Shelf{"orders": orders()}, "127.0.0.1:0", dump.WithSecrets())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	for range 5 {
		silent, err := net.Dial("tcp", server.Addr().String())
		require.NoError(t, err)
		defer silent.Close()
	}
	connection, err := net.Dial("tcp", server.Addr().String())
	require.NoError(t, err)
	defer connection.Close()
	_, err = io.WriteString(connection, "dump\n")
	require.NoError(t, err)
	text, err := io.ReadAll(connection)
	require.NoError(t, err)
	require.Equal(t, whole, string(text))
	cancel()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "the server waits for clients that say nothing")
	}
}
