package javapeer_test

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
)

// client returns a plain connection to the cluster's ZooKeeper.
func client(t *testing.T, c javapeer.Cluster) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{c.Servers}, time.Minute, zk.WithLogger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	late := time.After(time.Minute)
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn
			}
		case <-late:
			t.Fatal("no session with ZooKeeper")
		}
	}
}

// What differs from run to run: process ids, and what Curator calls the nodes of a latch.
var (
	processID = regexp.MustCompile(`@-@\d+`)
	latchNode = regexp.MustCompile(`_c_[0-9a-f-]{36}-latch-(\d{10})`)
)

// treeOf returns a line for each node of a job: its path below the job, P or E for persistent or ephemeral, and
// its value, quoted. Process ids are 1.
func treeOf(t *testing.T, conn *zk.Conn, namespace, job string) []string {
	t.Helper()
	root := "/" + namespace + "/" + job
	var lines []string
	var walk func(path string)
	walk = func(path string) {
		value, stat, err := conn.Get(path)
		if errors.Is(err, zk.ErrNoNode) {
			return // it went meanwhile
		}
		require.NoError(t, err)
		kind := "P"
		if stat.EphemeralOwner != 0 {
			kind = "E"
		}
		name := strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		line := fmt.Sprintf("%s %s %q", kind, name, value)
		line = latchNode.ReplaceAllString(processID.ReplaceAllString(line, "@-@1"), "_c_-latch-$1")
		lines = append(lines, line)
		children, _, err := conn.Children(path)
		if errors.Is(err, zk.ErrNoNode) {
			return
		}
		require.NoError(t, err)
		slices.Sort(children)
		for _, child := range children {
			walk(path + "/" + child)
		}
	}
	walk(root)
	return lines
}
