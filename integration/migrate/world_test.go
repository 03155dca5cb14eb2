package migrate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// patience bounds what takes milliseconds on a machine that is not busy.
const patience = time.Minute

// java is a ZooKeeper, and a client that writes to it as Java's Curator does.
type java struct {
	*testing.T
	server *zookeeper.Server
	conn   *zk.Conn
	acl    []zk.ACL
	digest string // user:password; empty for none
}

func newJava(t *testing.T, server *zookeeper.Server, digest string) *java {
	t.Helper()
	j := &java{T: t, server: server, acl: zk.WorldACL(zk.PermAll), digest: digest}
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	conn, events, err := zk.Connect(j.server.Addresses(), 10*time.Second, zk.WithLogger(quiet))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	for late := time.After(patience); ; {
		select {
		case e := <-events:
			if e.State != zk.StateHasSession {
				continue
			}
		case <-late:
			t.Fatal("no session")
		}
		break
	}
	j.conn = conn
	if digest != "" {
		require.NoError(t, conn.AddAuth("digest", []byte(digest)))
		j.acl = zk.AuthACL(zk.PermAll)
	}
	return j
}

// unique returns a namespace that no other test has, nor another run of the same one.
func unique(name string) string { return fmt.Sprintf("%s-%d", name, serial.Add(1)) }

var serial atomic.Int64

// has creates nodes, given as pairs of path and value, and their parents, which are empty. A path that
// ends in "!" is ephemeral.
func (j *java) has(pairs ...string) {
	j.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path, ephemeral := strings.CutSuffix(pairs[i], "!")
		j.parents(path)
		var flags int32
		if ephemeral {
			flags = zk.FlagEphemeral
		}
		_, err := j.conn.Create(path, []byte(pairs[i+1]), flags, j.acl)
		if errors.Is(err, zk.ErrNodeExists) {
			_, err = j.conn.Set(path, []byte(pairs[i+1]), -1)
		}
		require.NoError(j, err, path)
	}
}

func (j *java) parents(path string) {
	j.Helper()
	for at := 1; ; at++ {
		slash := strings.IndexByte(path[at:], '/')
		if slash < 0 {
			return
		}
		at += slash
		_, err := j.conn.Create(path[:at], nil, 0, j.acl)
		if !errors.Is(err, zk.ErrNodeExists) {
			require.NoError(j, err, path[:at])
		}
	}
}

// all returns every node at and below a path with its value and what ZooKeeper notes of changes.
func (j *java) all(path string) map[string]string {
	j.Helper()
	nodes := map[string]string{}
	data, stat, err := j.conn.Get(path)
	require.NoError(j, err)
	text, err := json.Marshal(stat)
	require.NoError(j, err)
	nodes[path] = string(data) + " " + string(text)
	names, _, err := j.conn.Children(path)
	require.NoError(j, err)
	for _, name := range names {
		for path, text := range j.all(path + "/" + name) {
			nodes[path] = text
		}
	}
	return nodes
}

// outcome is how the command ended.
type outcome struct {
	out, errOut string
	status      int
}

// command runs the program with passwords in its environment.
func command(t *testing.T, environment []string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), environment...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return outcome{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// migrate runs the command on a namespace and holds that ZooKeeper stays as it is.
func (j *java) migrate(namespace string, more ...string) outcome {
	j.Helper()
	before := j.all("/" + namespace)
	args := []string{
		"migrate", "--from", j.server.Address(), "--to", strings.Join(target.Endpoints(), ","),
		"--namespace", namespace,
	}
	var environment []string
	if user, password, ok := strings.Cut(j.digest, ":"); ok {
		args = append(args, "--from-user", user)
		environment = []string{"ELASTICRON_FROM_PASSWORD=" + password}
	}
	result := command(j.T, environment, append(args, more...)...)
	require.Equal(j, before, j.all("/"+namespace), "the source has changed")
	return result
}

// report reads what --json wrote.
func (o outcome) report(t *testing.T) map[string]migrate.Job {
	t.Helper()
	var report migrate.Report
	require.NoError(t, json.Unmarshal([]byte(o.out), &report), "%s%s", o.out, o.errOut)
	jobs := map[string]migrate.Job{}
	for _, j := range report.Jobs {
		jobs[j.Name] = j
	}
	return jobs
}

// open returns a handle on a namespace of the target.
func open(t *testing.T, namespace string) *etcd.Registry {
	t.Helper()
	reg, err := etcd.Open(t.Context(), etcd.Config{Endpoints: target.Endpoints(), Namespace: namespace, DialTimeout: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	return reg
}

// nodes returns what the target has in a namespace, by path.
func nodes(t *testing.T, namespace string) map[string]string {
	t.Helper()
	all, _, err := open(t, namespace).List(t.Context(), registry.Root)
	require.NoError(t, err)
	values := map[string]string{}
	for _, n := range all {
		values[n.Path] = n.Value
	}
	return values
}
