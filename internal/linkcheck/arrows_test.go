package linkcheck_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rooms is the map of the house, from the ground up: what each room imports of ours, in code that is not a test.
// A room names only rooms above its own row, so no arrow points upward and none closes a circle. A name stands for
// the packages at and below it that have no row of their own.
var rooms = []struct{ name, imports string }{
	// Tools that know nothing of jobs.
	{"internal/chance", ""},
	{"internal/execution", ""},
	{"internal/logqueue", ""},
	{"internal/option", ""},
	{"internal/patience", ""},
	{"internal/pgroup", ""},
	{"internal/reference", ""},
	{"internal/standstill", ""},
	{"internal/texts", ""},
	{"internal/timezone", ""},
	{"internal/repeats", "internal/texts"},
	{"internal/tlstest", ""},

	// The store: the seam, what backends share, and the backends.
	{"registry/internal/access", ""},
	{"registry", "registry/internal/access"},
	{"registry/internal/turns", "registry"},
	{"registry/backend", "registry registry/internal/access"},
	{"registry/internal/remote", "registry registry/backend"},
	{"registry/registrytest", "internal/standstill registry"},
	{"registry/memory", "internal/option registry registry/backend registry/internal/turns"},
	{"registry/etcd", "internal/logqueue internal/repeats registry registry/backend registry/internal/remote registry/internal/turns"},
	{"registry/etcd/embedded", "internal/option"},
	{"registry/zkcompat", "internal/logqueue internal/repeats registry registry/backend registry/internal/remote registry/internal/turns"},

	// Jobs as users write and configure them, and the tree in which they stand.
	{"cronexpr", "internal/option"},
	{"job", "cronexpr internal/execution internal/reference internal/texts internal/timezone"},
	{"internal/inforce", "job"},
	{"internal/protect", "job"},
	{"job/internal/tail", ""},
	{"job/internal/webcall", "internal/protect internal/reference job/internal/tail"},
	{"job/script", "internal/execution internal/pgroup internal/protect internal/texts job job/internal/tail"},
	{"job/httpjob", "internal/option internal/texts job job/internal/webcall"},
	{"job/errorhandler", "internal/reference internal/texts job job/internal/webcall"},
	{"sharding", "internal/protect internal/texts"},
	{"internal/javayaml", ""},
	{"internal/jobtree", "cronexpr internal/javayaml internal/reference internal/texts job registry"},
	{"internal/instanceid", "internal/jobtree"},
	{"internal/guarded", "internal/jobtree internal/option internal/texts registry"},
	{"internal/careless", "internal/jobtree registry"},

	// Rules: what is seen becomes what to commit.
	{"failover", "internal/jobtree job registry"},
	{"internal/resharding", "internal/jobtree registry sharding"},
	{"internal/barrier", "internal/jobtree job registry"},
	{"internal/byhand", "internal/jobtree registry"},
	{"internal/jitter", "job"},
	{"internal/javarules", "cronexpr internal/jobtree job"},

	// The rooms of the scheduler, and the runner that walks through them.
	{"scheduler/internal/actor", ""},
	{"scheduler/internal/admission", ""},
	{"scheduler/internal/handover", ""},
	{"scheduler/internal/load", ""},
	{"scheduler/internal/stopping", "internal/execution"},
	{"scheduler/internal/together", "registry"},
	{"scheduler/internal/asking", "internal/protect"},
	{"scheduler/internal/notify", "internal/protect job scheduler/internal/actor scheduler/internal/stopping"},
	{"scheduler/internal/fires", "cronexpr internal/inforce internal/jitter job"},
	{"scheduler/internal/policy", "cronexpr internal/inforce internal/jitter internal/jobtree job"},
	{"scheduler/internal/room", "internal/chance internal/inforce internal/jobtree job registry scheduler/internal/policy"},
	{"scheduler/internal/peers", "internal/jobtree job registry scheduler/internal/room sharding"},
	{"scheduler/internal/javapeers", "cronexpr failover internal/javarules internal/jobtree internal/option internal/protect internal/resharding job registry scheduler/internal/actor scheduler/internal/peers scheduler/internal/room"},
	{"scheduler/internal/configuration", "internal/inforce internal/jobtree internal/protect job job/errorhandler scheduler/internal/asking scheduler/internal/fires scheduler/internal/peers scheduler/internal/policy scheduler/internal/room sharding"},
	{"scheduler/internal/membership", "internal/jobtree job registry scheduler/internal/fires scheduler/internal/peers scheduler/internal/room"},
	{"scheduler/internal/leadership", "internal/inforce internal/jobtree internal/protect internal/resharding registry scheduler/internal/asking scheduler/internal/fires scheduler/internal/peers scheduler/internal/room sharding"},
	{"scheduler/internal/following", ""},
	{"scheduler/internal/lost", "failover internal/jobtree registry scheduler/internal/actor scheduler/internal/room"},
	{"scheduler/internal/missed", "internal/jobtree job registry scheduler/internal/fires scheduler/internal/peers scheduler/internal/policy scheduler/internal/room"},
	{"scheduler/internal/requests", "internal/jobtree registry scheduler/internal/peers scheduler/internal/room"},
	{"scheduler/internal/wholeround", "internal/barrier internal/jobtree job registry scheduler/internal/actor scheduler/internal/fires scheduler/internal/policy scheduler/internal/room"},
	{"scheduler/internal/executions", "internal/chance internal/execution internal/inforce internal/jobtree internal/protect job registry scheduler/internal/actor scheduler/internal/notify scheduler/internal/peers scheduler/internal/policy scheduler/internal/room scheduler/internal/stopping"},
	{"scheduler/internal/mending", "internal/jobtree job registry scheduler/internal/actor scheduler/internal/executions scheduler/internal/room"},
	{"scheduler/internal/rounds", "failover internal/jobtree job registry scheduler/internal/actor scheduler/internal/admission scheduler/internal/configuration scheduler/internal/executions scheduler/internal/fires scheduler/internal/load scheduler/internal/missed scheduler/internal/policy scheduler/internal/requests scheduler/internal/room scheduler/internal/wholeround"},
	{"scheduler", "cronexpr internal/byhand internal/chance internal/execution internal/inforce internal/instanceid internal/jitter internal/jobtree internal/logqueue internal/option internal/patience internal/protect internal/repeats internal/resharding internal/texts job job/errorhandler registry scheduler/internal/actor scheduler/internal/admission scheduler/internal/asking scheduler/internal/configuration scheduler/internal/executions scheduler/internal/fires scheduler/internal/following scheduler/internal/handover scheduler/internal/javapeers scheduler/internal/leadership scheduler/internal/load scheduler/internal/lost scheduler/internal/membership scheduler/internal/mending scheduler/internal/notify scheduler/internal/peers scheduler/internal/policy scheduler/internal/requests scheduler/internal/room scheduler/internal/rounds scheduler/internal/stopping scheduler/internal/together scheduler/internal/wholeround sharding"},

	// What looks at a scheduler.
	{"history", "internal/logqueue internal/option internal/protect internal/texts job"},
	{"history/observe", "history registry scheduler"},
	{"health", "scheduler"},
	{"dump", "internal/jobtree internal/option scheduler"},
	{"metrics", "internal/option job scheduler"},
	{"clustertest", "cronexpr internal/execution internal/jitter internal/jobtree job registry registry/memory scheduler"},

	// What acts on the tree from outside.
	{"seed", "internal/guarded internal/jobtree internal/option job registry"},
	{"migrate", "cronexpr failover internal/guarded internal/jobtree internal/option internal/timezone job registry sharding"},
	{"operate", "cronexpr internal/byhand internal/inforce internal/javarules internal/jobtree internal/option internal/protect internal/texts job job/httpjob job/script registry sharding"},
	{"operate/jobfile", "internal/guarded internal/jobtree operate registry seed"},
	{"federation/home", "cronexpr failover internal/guarded internal/inforce internal/jitter internal/jobtree internal/option job operate registry"},
	{"federation", "federation/home internal/instanceid internal/jobtree internal/logqueue internal/option internal/patience internal/protect internal/texts job registry scheduler"},

	// The console: who may do what, what is live, the pages, and the interface that carries them.
	{"console/access", ""},
	{"console/web", ""},
	{"console/live", "console/access history internal/jobtree internal/option job operate registry"},
	{"console/api/wire", "history operate registry"},
	{"console/api", "console/access console/api/wire console/live cronexpr history internal/jobtree internal/option internal/protect internal/texts internal/timezone job operate operate/jobfile registry seed"},
	{"console/client", "console/api/wire history internal/option operate operate/jobfile registry"},
	{"console/figures", "console/live"},
	{"console", "console/access console/api console/figures console/live console/web history internal/jobtree internal/option internal/texts operate registry"},

	// Jobs without code.
	{"worker", "health history history/observe internal/execution internal/jobtree internal/logqueue internal/option internal/pgroup internal/protect internal/reference internal/repeats internal/texts job job/errorhandler job/httpjob job/script metrics operate registry scheduler seed"},
}

// above are the programs: they may import any room, and no room imports them.
var above = []string{"cmd", "examples", "integration", "internal/docs", "internal/linkcheck", "internal/logcatalog", "site"}

// TestArrows compares what the rooms import with the map.
func TestArrows(t *testing.T) {
	t.Parallel()
	seen := make(map[string][]string)
	for pkg, imports := range ours(t) {
		if isAbove(pkg) {
			continue
		}
		room := roomOf(pkg)
		require.NotEmpty(t, room, "%s has no place on the map", pkg)
		for _, i := range imports {
			require.False(t, isAbove(i), "%s imports %s: nothing imports programs", pkg, i)
			if other := roomOf(i); other != room {
				seen[room] = append(seen[room], other)
			}
		}
		seen[room] = slices.Compact(slices.Sorted(slices.Values(seen[room])))
	}
	var below []string
	for _, r := range rooms {
		want := strings.Fields(r.imports)
		require.Equal(t, strings.Join(want, " "), strings.Join(seen[r.name], " "), "what %s imports is not what its row says", r.name)
		require.Contains(t, seen, r.name, "there is no such room")
		for _, i := range want {
			require.Contains(t, below, i, "%s imports %s, whose row is not above its own: the arrow points upward", r.name, i)
		}
		below = append(below, r.name)
	}
}

// roomOf returns the room to which a package belongs; empty if it has none.
func roomOf(pkg string) string {
	longest := ""
	for _, r := range rooms {
		if len(r.name) > len(longest) && (pkg == r.name || strings.HasPrefix(pkg, r.name+"/")) {
			longest = r.name
		}
	}
	return longest
}

func isAbove(pkg string) bool {
	return slices.ContainsFunc(above, func(a string) bool { return pkg == a || strings.HasPrefix(pkg, a+"/") })
}

// ours returns all packages of the module, each with those of the module that it imports, by their paths in it.
func ours(t *testing.T) map[string][]string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"/...")
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := list.Output()
	require.NoError(t, err)
	all := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module+"/")
		all[pkg] = nil
		for _, i := range fields[1:] {
			if path, in := strings.CutPrefix(i, module+"/"); in {
				all[pkg] = append(all[pkg], path)
			}
		}
	}
	return all
}
