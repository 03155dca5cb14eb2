package overload_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/integration/serverprocess"
	"github.com/elasticron/elasticron/integration/zookeeper"
)

// What this binary is when it is not the test, and what it is then told.
const (
	envRole      = "ELASTICRON_OVERLOAD_ROLE"
	envSettings  = "ELASTICRON_OVERLOAD_SETTINGS"
	roleStore    = "store"
	roleInstance = "instance"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(envRole); role != "" {
		var set settings
		err := json.Unmarshal([]byte(os.Getenv(envSettings)), &set)
		if err == nil {
			err = be(role, set)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, role, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// child is a process that the test started. It ends with its input, so with the test in any case.
type child struct {
	tb     testing.TB
	cmd    *exec.Cmd
	orders *json.Encoder
	input  io.Closer
	output *json.Decoder
}

func startChild(tb testing.TB, role string, set settings) *child {
	tb.Helper()
	text, err := json.Marshal(set)
	require.NoError(tb, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envSettings+"="+string(text))
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	require.NoError(tb, err)
	output, err := cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, cmd.Start())
	return &child{tb: tb, cmd: cmd, orders: json.NewEncoder(input), input: input, output: json.NewDecoder(output)}
}

// end has the child end, in order, and waits for it.
func (c *child) end() {
	c.tb.Helper()
	require.NoError(c.tb, c.input.Close())
	dead := time.AfterFunc(3*time.Minute, func() { _ = c.cmd.Process.Kill() })
	defer dead.Stop()
	require.NoError(c.tb, c.cmd.Wait())
}

// shape is what a cluster consists of.
type shape struct {
	processes, members int
	zookeeper          bool          // the store, or else etcd
	roundTrip          time.Duration // that the way to the store takes
	every              int           // seconds between two fires of a job; 0 = 1
	items              int           // of a job; 0 = itemsPerJob
}

func (s shape) itemsOfAJob() int { return cmp.Or(s.items, itemsPerJob) }

func (s shape) String() string {
	name := fmt.Sprintf("processes=%d/members=%d", s.processes, s.members)
	if s.zookeeper {
		name = "zookeeper/" + name
	}
	if s.roundTrip > 0 {
		name += "/slowed=" + s.roundTrip.String()
	}
	return name
}

// cluster is a store and the instances that use it.
type cluster struct {
	tb        testing.TB
	items     int    // of a job
	end       func() // of the store
	storePID  int
	instances []*child
}

func startCluster(tb testing.TB, s shape) *cluster {
	tb.Helper()
	c := &cluster{tb: tb, items: s.itemsOfAJob()}
	endpoints := c.startStore(s)
	if s.roundTrip > 0 {
		for i, endpoint := range endpoints {
			at, err := url.Parse(endpoint)
			require.NoError(tb, err)
			slow := proxy.Start(tb, at.Host)
			slow.Delay(s.roundTrip / 2)
			endpoints[i] = "http://" + slow.Address()
		}
	}
	for n := range s.processes {
		c.instances = append(c.instances, startChild(tb, roleInstance, settings{
			ZooKeeper: s.zookeeper, Endpoints: endpoints, Namespace: "overload", ID: fmt.Sprintf("10.0.0.%d@-@overload", n+1), Every: max(1, s.every),
			Items: s.itemsOfAJob(),
		}))
	}
	return c
}

// startStore starts the store, and returns where it is.
func (c *cluster) startStore(s shape) (endpoints []string) {
	c.tb.Helper()
	if s.zookeeper {
		zookeeper.Need(c.tb)
		server, err := zookeeper.Launch(c.tb.Context(), zookeeper.WithForcedSync(), zookeeper.WithWholeCompiler(), zookeeper.WithHeap("1g"))
		require.NoError(c.tb, err)
		c.end, c.storePID = func() { require.NoError(c.tb, server.Close()) }, server.PID()
		return server.Addresses()
	}
	store := startChild(c.tb, roleStore, settings{Members: s.members})
	c.end, c.storePID = store.end, store.cmd.Process.Pid
	require.NoError(c.tb, store.output.Decode(&endpoints))
	return endpoints
}

// close ends all processes.
func (c *cluster) close() {
	c.tb.Helper()
	for _, i := range c.instances {
		i.end()
	}
	c.end()
}

// want has all instances run so many jobs, and returns what has happened in them so far.
func (c *cluster) want(jobs int) counts {
	c.tb.Helper()
	for _, i := range c.instances {
		require.NoError(c.tb, i.orders.Encode(told{Jobs: jobs}))
	}
	var all counts
	for _, i := range c.instances {
		var one counts
		require.NoError(c.tb, i.output.Decode(&one), "an instance died")
		require.Empty(c.tb, one.Err)
		all.Ran, all.Items = all.Ran+one.Ran, all.Items+one.Items
		all.CPU += one.CPU
		all.Lost, all.Doubtful = all.Lost+one.Lost, all.Doubtful+one.Doubtful
	}
	return all
}

// storeCPU returns what the store took of the processors so far.
func (c *cluster) storeCPU() time.Duration { return ofStore(c, serverprocess.ProcessorTime) }

// storeWritten returns how many bytes the store has written to disks so far.
func (c *cluster) storeWritten() int64 { return ofStore(c, serverprocess.Written) }

// ofStore returns what Linux tells of the store's process; the zero value on other systems.
func ofStore[T any](c *cluster, ask func(pid int) (T, error)) (told T) {
	c.tb.Helper()
	if runtime.GOOS == "linux" {
		var err error
		told, err = ask(c.storePID)
		require.NoError(c.tb, err)
	}
	return told
}

// rate returns how many executions run a second when so many items have fires, once every item ran, or
// after three minutes: at first the store is busy with jobs that begin to exist.
func (c *cluster) rate(items int, span time.Duration) speed {
	c.tb.Helper()
	jobs := max(1, items/c.items)
	c.want(jobs)
	patience := time.Now().Add(3 * time.Minute)
	for c.want(0).Items < jobs*c.items {
		if time.Now().After(patience) {
			c.tb.Logf("of %d items %d ran within three minutes", jobs*c.items, c.want(0).Items)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	before, storeBefore, writtenBefore, began := c.want(0), c.storeCPU(), c.storeWritten(), time.Now()
	time.Sleep(span)
	after, storeAfter, writtenAfter, took := c.want(0), c.storeCPU(), c.storeWritten(), time.Since(began)
	require.Zero(c.tb, after.Lost, "sessions that were lost while the store answered")
	ran := max(1, after.Ran-before.Ran)
	return speed{
		ran:       int(float64(after.Ran-before.Ran) / took.Seconds()),
		instances: (after.CPU - before.CPU) / time.Duration(ran), store: (storeAfter - storeBefore) / time.Duration(ran),
		written: (writtenAfter - writtenBefore) / ran,
	}
}

// speed is how many executions ran a second, and what each took.
type speed struct {
	ran              int
	instances, store time.Duration // of the processors
	written          int64         // bytes that the store wrote to the disks of all its members
}

func (s speed) String() string {
	return fmt.Sprintf("ran %d a second, each for %s of the instances and %s of the store, which wrote %d bytes", s.ran,
		s.instances.Round(time.Microsecond), s.store.Round(time.Microsecond), s.written)
}
