package mixed

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// latchWatch is how often the line at a latch of Java is looked at.
const latchWatch = 5 * time.Second

// partLatches has those of a Java process that wait for a latch and hold each other up for ever get on. Before 5.4,
// Curator lets a latch whose predecessor is gone as it looks at it begin again at the end of the line, and two of one
// process may do so in turns, for ever (CURATOR-645). Somebody else in the line puts an end to that: the first of them
// waits for him, the second for the first. See docs/java.md.
func (c *cluster) partLatches() {
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan struct{})
	c.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		lines := make(map[string]line)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(latchWatch):
			}
			for _, latch := range []string{c.tree.ElectionLatch(), c.tree.FailoverLatch()} {
				nodes, _, err := c.registry.List(ctx, latch)
				if err != nil {
					continue // the test has it cut off, or is over
				}
				lines[latch] = lines[latch].next(nodes)
				if lines[latch].turns < 2 {
					continue
				}
				c.t.Logf("threads of a Java process hold each other up in %s (CURATOR-645), and are helped", latch)
				_ = c.registry.Latch(ctx, latch, func(context.Context) error { // whether it helped, the next look tells
					time.Sleep(time.Second)
					return nil
				})
			}
		}
	}()
}

// line is who waited at a latch when it was last looked at.
type line struct {
	session registry.SessionID
	names   []string // sorted by place
	turns   int      // for how many looks in a row all of them had begun again
}

// next is the line as these nodes of a latch make it.
func (l line) next(nodes []registry.Node) line {
	now := line{}
	for _, n := range nodes {
		if name := path.Base(n.Path); strings.Contains(name, "-latch-") {
			now.names = append(now.names, name)
			if now.session = n.Session; n.Session != nodes[0].Session {
				return line{}
			}
		}
	}
	if len(now.names) < 2 {
		return line{}
	}
	slices.SortFunc(now.names, func(a, b string) int { return strings.Compare(place(a), place(b)) })
	stays := func(name string) bool { return slices.Contains(l.names, name) }
	if l.session == now.session && len(l.names) == len(now.names) && !slices.ContainsFunc(now.names, stays) {
		now.turns = l.turns + 1
	}
	return now
}

// place is the number at the end of a latch's node.
func place(name string) string { return name[strings.LastIndex(name, "-")+1:] }

func TestLatchesThatHoldEachOtherUpAreTold(t *testing.T) {
	t.Parallel()
	of := func(session registry.SessionID, names ...string) []registry.Node {
		var nodes []registry.Node
		for _, n := range names {
			nodes = append(nodes, registry.Node{Path: "/j/leader/election/latch/_c_" + n, Session: session})
		}
		return nodes
	}
	for name, test := range map[string]struct {
		looks [][]registry.Node
		turns int
	}{
		"they begin again and again": {[][]registry.Node{
			of(1, "x-latch-0000000001", "y-latch-0000000002"), of(1, "y-latch-0000000400", "x-latch-0000000401"),
			of(1, "x-latch-0000000800", "y-latch-0000000801"),
		}, 2},
		"they wait for one who has it": {[][]registry.Node{
			of(1, "x-latch-0000000001", "y-latch-0000000002"), of(1, "x-latch-0000000001", "y-latch-0000000002"),
			of(1, "x-latch-0000000001", "y-latch-0000000009"),
		}, 0},
		"one of them got on": {[][]registry.Node{of(1, "x-latch-0000000001", "y-latch-0000000002"), of(1, "z-latch-0000000400")}, 0},
		"they are two processes": {[][]registry.Node{
			of(1, "x-latch-0000000001", "y-latch-0000000002"), append(of(1, "x-latch-0000000400"), of(2, "y-latch-0000000401")...),
		}, 0},
		"nobody waits": {[][]registry.Node{nil, nil, nil}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var l line
			for _, nodes := range test.looks {
				l = l.next(nodes)
			}
			if l.turns != test.turns {
				t.Errorf("%d turns, not %d", l.turns, test.turns)
			}
		})
	}
}
