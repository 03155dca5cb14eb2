package main

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func TestGet(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for command, want := range map[string]string{
		"get jobs": `NAME     STATUS    ITEMS  RUN  INSTANCES  NEXT       LAST
broken   CRASHED   0      0    0          -          -
mail     OVERDUE   2      0    2          8m3s late  ok 2s ago
nightly  DISABLED  1      0    2          -          -
orders   OK        2      0    2          in 57s     ok 2s ago
`,
		"get jobs orders":                          "NAME    STATUS  ITEMS  RUN  INSTANCES  NEXT    LAST\norders  OK      2      0    2          in 57s  ok 2s ago\n",
		"get job --match [mn]* -o name":            "job/mail\njob/nightly\n",
		"get jobs --status ok -o name":             "job/mail\njob/orders\n",
		"get jobs --status overdue,PAUSED -o name": "job/broken\njob/mail\n",
		"get jobs --match none":                    "No jobs found.\n",
		"get jobs orders -o wide": "NAME    STATUS  ITEMS  RUN  INSTANCES  NEXT    LAST       CRON         ZONE           LEADER          REASON\n" +
			"orders  OK      2      0    2          in 57s  ok 2s ago  0 * * * * ?  Europe/Berlin  10.0.0.1@-@7-a  -\n",
		"get items mail": `JOB   ITEM  STATUS    SERVER    LAST                         TOOK   SUCCESS  FAILED  LOST
mail  0     DISABLED  10.0.0.1  ok 2s ago                    980ms  1        0       0
mail  1     OVERDUE   10.0.0.2  failed 10m ago: exit 3 [31m  980ms  0        1       0
`,
		"get items --status overdue -o name": "item/mail/1\n",
		"get executions mail": `JOB   ITEM  OUTCOME  BEGIN                    TOOK   SOURCE     ERROR
mail  0     success  2026-03-02 12:00:00 UTC  980ms  scheduled  -
mail  1     failure  2026-03-02 11:50:00 UTC  980ms  scheduled  exit 3 [31m
`,
		"get executions --status failure -o name": "execution/mail/1/2026-03-02T11:50:00.02Z\n",
		"get instances": `NAME            STATUS            JOBS  LEADS  ITEMS  RUN
10.0.0.1@-@7-a  SERVERS_DISABLED  3     3      3      0
10.0.0.2@-@7-b  SERVERS_DISABLED  3     0      2      0
`,
		"get servers": `NAME      STATUS            INSTANCES  JOBS  DISABLED
10.0.0.1  SERVERS_DISABLED  1          3     1
10.0.0.2  SERVERS_DISABLED  1          3     1
10.0.0.3  CRASHED           0          1     1
`,
		"get servers 10.0.0.3 -o wide": "NAME      STATUS   INSTANCES  JOBS  DISABLED  REASON\n10.0.0.3  CRASHED  0          1     1         no instance lives there\n",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, w.must(t, on(strings.Fields(command)...)...))
		})
	}
}

func TestGetAsJSONAndYAML(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	var list struct {
		Revision int64            `json:"revision"`
		Time     time.Time        `json:"time"`
		Jobs     []operate.JobRow `json:"jobs"`
	}
	asJSON := w.must(t, on("get", "jobs", "--match", "mail", "-o", "json")...)
	require.NoError(t, json.Unmarshal([]byte(asJSON), &list))
	require.Equal(t, noon, list.Time)
	require.Positive(t, list.Revision)
	require.Len(t, list.Jobs, 1)
	require.Equal(t, operate.OK, list.Jobs[0].Status)
	require.Equal(t, operate.Overdue, list.Jobs[0].Reasons[0].Word)
	require.Equal(t, 1, list.Jobs[0].OverdueItems)

	var one, two any
	require.NoError(t, json.Unmarshal([]byte(asJSON), &one))
	asYAML := w.must(t, on("get", "jobs", "--match", "mail", "-o", "yaml")...)
	require.NotContains(t, asYAML, "{")
	require.NoError(t, yaml.Unmarshal([]byte(asYAML), &two))
	text, err := json.Marshal(two)
	require.NoError(t, err)
	text2, err := json.Marshal(one)
	require.NoError(t, err)
	require.JSONEq(t, string(text2), string(text))

	require.Contains(t, w.must(t, on("get", "jobs", "--match", "none", "-o", "json")...), `"jobs": []`)
	for _, kind := range []string{"items", "executions", "instances", "servers"} {
		require.Contains(t, w.must(t, on("get", kind, "-o", "json")...), `"`+kind+`": [`)
	}
}

func TestGetWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	out, errOut, status := w.does(t, on("get", "jobs", "none")...)
	require.Equal(t, exitFailed, status)
	require.Equal(t, "elasticron: no jobs of \"none\"\n", errOut)
	require.Empty(t, out)
	_, errOut, status = w.does(t, "get", "jobs", "--etcd", "http://nowhere", "-n", "shop")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "no answer from http://nowhere")
}

// The same tree gives the same output, whatever registry holds it.
func TestSameOutputOfEtcdAndZooKeeper(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for _, command := range []string{
		"get jobs -o wide", "get items", "get executions -o wide", "get servers", "get instances", "describe job/orders", "describe server/10.0.0.1",
		"describe instance/10.0.0.1@-@7-a", "dump mail", "export orders", "next orders", "diff -f testdata/jobs.yaml",
	} {
		args := strings.Fields(command)
		want := w.must(t, on(args...)...)
		require.NotEmpty(t, want, command)
		require.Equal(t, want, w.must(t, append(args, "--zookeeper", "zk1:2181", "-n", "shop")...))
	}
}

func TestWatchShowsWhatChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"table": {
			[]string{"--match", "orders"},
			"NAME    STATUS  ITEMS  RUN  INSTANCES  NEXT    LAST\norders  OK      2      0    2          in 57s  ok 2s ago\n" +
				"orders  OK  2  1  2  in 57s  ok 2s ago\njob/orders removed\n",
		},
		"names": {[]string{"--match", "orders", "-o", "name"}, "job/orders\njob/orders\njob/orders removed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			hand := w.etcdServer.Open("shop")
			t.Cleanup(func() { require.NoError(t, hand.Close(context.Background())) })
			out, errOut, stop := w.watches(t, on(append([]string{"get", "jobs", "-w"}, test.args...)...))
			shows := func(lines int) {
				t.Helper()
				require.Eventually(t, func() bool { return strings.Count(out.String(), "orders") >= lines }, time.Minute, time.Millisecond, errOut.String())
			}
			shows(1)
			session, err := hand.Session(t.Context())
			require.NoError(t, err)
			_, err = hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned(jobtree.For("orders").ItemRunning(0), "", session)}})
			require.NoError(t, err)
			shows(2)
			nodes, _, err := hand.List(t.Context(), "/orders")
			require.NoError(t, err)
			var writes []registry.Write
			for _, n := range nodes {
				writes = append(writes, registry.Delete(n.Path))
			}
			_, err = hand.Commit(t.Context(), registry.Txn{Then: writes})
			require.NoError(t, err)
			shows(3)
			require.Zero(t, stop(), errOut.String())
			require.Equal(t, test.want, out.String())
		})
	}
}

// What --status selects no more is not told of as removed: it is there. It comes back as a new row.
func TestWatchOfAStatus(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?m)^({"name":")?(job/)?mail`)
	for output, want := range map[string]string{
		"table": `^NAME  STATUS   ITEMS .*\nmail  OVERDUE  2 .*\njob/mail is not overdue or crashed any more\nmail  OVERDUE  2 .*\njob/mail removed\n$`,
		"name":  `^job/mail\njob/mail left\njob/mail\njob/mail removed\n$`,
		"json": `^{"name":"job/mail","value":{"job":"mail",.*\n{"name":"job/mail","left":true,"value":{.*"status":"DISABLED".*\n` +
			`{"name":"job/mail","value":{.*\n{"name":"job/mail","removed":true}\n$`,
	} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			hand := w.hand(t)
			args := []string{"get", "jobs", "-w", "--match", "mail", "--status", "overdue,CRASHED", "-o", output}
			if output == "table" {
				args = args[:len(args)-2]
			}
			out, errOut, stop := w.watches(t, on(args...))
			shows := func(lines int) {
				t.Helper()
				require.Eventually(t, func() bool { return len(named.FindAllString(out.String(), -1)) >= lines }, time.Minute, time.Millisecond, errOut.String())
			}
			shows(1)
			config, err := hand.Get(t.Context(), jobtree.For("mail").Config())
			require.NoError(t, err)
			put(t, hand, config.Path, strings.Replace(config.Value, `"disabled":false`, `"disabled":true`, 1))
			shows(2)
			put(t, hand, config.Path, config.Value)
			shows(3)
			_, err = hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.DeleteTree(jobtree.For("mail").Root())}})
			require.NoError(t, err)
			shows(4)
			require.Zero(t, stop(), errOut.String())
			require.Regexp(t, want, out.String())
		})
	}
}

// A record keeps two executions of an item. The one that makes way was not removed by anybody.
func TestWatchOfExecutionsThatMakeWay(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	hand := w.hand(t)
	out, errOut, stop := w.watches(t, on("get", "executions", "mail", "-w", "-o", "name"))
	require.Eventually(t, func() bool { return strings.Count(out.String(), "\n") == 2 }, time.Minute, time.Millisecond, errOut.String())
	_, err := hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(jobtree.For("mail").ItemRecord(1))}})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return strings.HasSuffix(out.String(), "\nexecution/mail/1/2026-03-02T11:50:00.02Z no longer kept\n")
	}, time.Minute, time.Millisecond, errOut.String())
	require.Zero(t, stop(), errOut.String())
}

// Who watches what is not there, or has misspelt its name, hears of it.
func TestWatchOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	hand := w.hand(t)
	out, errOut, stop := w.watches(t, on("get", "jobs", "order", "-w", "-o", "name"))
	require.Eventually(t, func() bool { return errOut.String() == "elasticron: no jobs of \"order\"\nwhat comes of it is shown\n" },
		time.Minute, time.Millisecond, errOut.String())
	require.Empty(t, out.String())
	config, err := hand.Get(t.Context(), jobtree.For("orders").Config())
	require.NoError(t, err)
	put(t, hand, jobtree.For("order").Config(), strings.Replace(config.Value, `"orders"`, `"order"`, 1))
	require.Eventually(t, func() bool { return out.String() == "job/order\n" }, time.Minute, time.Millisecond, errOut.String())
	require.Zero(t, stop(), errOut.String())
}

func TestWatchAsJSON(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	out, errOut, stop := w.watches(t, on("get", "servers", "-w", "-o", "json"))
	require.Eventually(t, func() bool { return strings.Count(out.String(), "\n") == 3 }, time.Minute, time.Millisecond)
	require.Zero(t, stop(), errOut.String())
	for line := range strings.Lines(out.String()) {
		var c struct {
			Name  string            `json:"name"`
			Value operate.ServerRow `json:"value"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		require.Equal(t, "server/"+c.Value.Server, c.Name)
	}
}

func TestRedrawnInPlace(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.etcdServer.Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	ns, err := operate.ReadNamespace(t.Context(), reg, noon)
	require.NoError(t, err)
	var out bytes.Buffer
	width, height := 0, 0
	screen := &redrawn{
		getting: &getting{program: w.program, list: listJobs()}, out: &out, colour: true,
		size: func() (int, int) { return width, height },
	}
	require.NoError(t, screen.show(ns))
	require.Equal(t, 5, strings.Count(out.String(), clearRight+"\n"))
	require.Contains(t, out.String(), redText+"OVERDUE"+plainText+"   2")
	require.NotContains(t, out.String(), "A\r", "nothing stands there yet")

	out.Reset()
	width, height = 20, 5
	require.NoError(t, screen.show(ns))
	require.True(t, strings.HasPrefix(out.String(), "\x1b[5A\r"), "it goes back to where the list began")
	require.Contains(t, out.String(), "... and 2 more")
	require.NotContains(t, out.String(), "LAST", "it is beyond the right edge")
	require.Equal(t, 4, screen.lines)
}

func TestColoursLeaveTheTableStraight(t *testing.T) {
	t.Parallel()
	table := tableOf([][]string{{"NAME", "STATUS", "LAST"}, {"Ärger", "OVERDUE", "x"}, {"b", "OK", ""}, {"c", "DISABLED", "OK"}, {"d", "WAITING", "x"}})
	got := coloured(table, "STATUS")
	require.Equal(t, "NAME   STATUS    LAST\nÄrger  \x1b[31mOVERDUE\x1b[0m   x\nb      \x1b[32mOK\x1b[0m\nc      DISABLED  OK\nd      \x1b[33mWAITING\x1b[0m   x\n", got)
	for _, code := range []string{plainText, redText, greenText, yellow} {
		got = strings.ReplaceAll(got, code, "")
	}
	require.Equal(t, table, got)
	require.Equal(t, table, coloured(table, "NONE"))
}

func TestBriefDurations(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 0: "0ms", 1500 * time.Microsecond: "1ms", 1500 * time.Millisecond: "1.5s", 59 * time.Second: "59s", 119 * time.Second: "119s",
		2 * time.Minute: "2m", 150 * time.Second: "2m30s", 11 * time.Minute: "11m", 3*time.Hour + 20*time.Minute: "3h20m", 30 * time.Hour: "30h", 72 * time.Hour: "3d",
	} {
		require.Equal(t, want, brief(d))
	}
	require.Equal(t, "1s", whole(1900*time.Millisecond))
	require.Equal(t, "0s", whole(-time.Hour))
	require.Equal(t, "2m30s", whole(150*time.Second))
}

// The end of an error tells why, also where a list has room for a part of it.
func TestTheMiddleOfAnErrorIsLeftOut(t *testing.T) {
	t.Parallel()
	require.Equal(t, "exit 3", shortened("exit 3"))
	require.Equal(t, "script /opt/...t status 3: no such table", shortened("script /opt/jobs/of/the/warehouse/mail: exit status 3: no such table"))
	require.Equal(t, "ääääääääääää...äääääääääääääääääääääääää", shortened(strings.Repeat("ä", 100)))
}

// Whoever asks for the instances or the servers of a job, which the command does not know, is told where they are.
func TestGetInstancesOfAJob(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for command, want := range map[string]string{
		"get instances orders": `no instance is named "orders"; of the job of this name, elasticron describe job/orders lists them`,
		"get servers orders":   `no server is named "orders"`,
		"get instances gone":   `no instances of "gone"`,
	} {
		_, errOut, status := w.does(t, on(strings.Fields(command)...)...)
		require.Equal(t, exitFailed, status, command)
		require.Contains(t, errOut, want)
	}
	require.Contains(t, w.must(t, on("describe", "job/orders")...), first)
}
