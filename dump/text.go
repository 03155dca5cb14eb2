package dump

import (
	"slices"
	"strings"

	"github.com/elasticron/elasticron/scheduler"
)

// Text returns a dump in the format of Elastic-Job-Lite: see the package documentation.
func Text(d scheduler.Dump) string {
	var text strings.Builder
	for _, n := range withFolders(d) {
		text.WriteString(n.Path + " | " + n.Value)
		if !n.Agrees() {
			path := ""
			if n.Seen {
				path = n.Path
			}
			text.WriteString(" | " + path + " | " + n.SeenValue)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// withFolders returns the nodes below the job in the order of the text, together with the folders that
// have no node of their own, as not every registry needs one.
func withFolders(d scheduler.Dump) []scheduler.DumpNode {
	root := "/" + d.Job
	nodes := make(map[string]scheduler.DumpNode)
	for _, n := range d.Nodes {
		if n.Path != root {
			nodes[n.Path] = n
		}
		for folder := parent(n.Path); len(folder) > len(root); folder = parent(folder) {
			if _, known := nodes[folder]; !known {
				nodes[folder] = scheduler.DumpNode{Path: folder, Seen: true}
			}
		}
	}
	all := make([]scheduler.DumpNode, 0, len(nodes))
	for _, n := range nodes {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b scheduler.DumpNode) int { return compare(a.Path, b.Path) })
	return all
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// compare orders paths depth first, parents before their children and siblings descending.
func compare(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return strings.Compare(bs[i], as[i])
		}
	}
	return len(as) - len(bs)
}
