package linkcheck_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// graph is what a program links.
type graph struct {
	roots   []string
	imports map[string][]string // every package's imports, ascending
	foreign []string            // the packages outside the standard library
}

// link lists what a program links that imports the roots.
func link(t *testing.T, roots ...string) graph {
	t.Helper()
	args := append([]string{"list", "-deps", "-json=ImportPath,Imports,Standard"}, roots...)
	list := exec.CommandContext(t.Context(), "go", args...)
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	var stderr strings.Builder
	list.Stderr = &stderr
	stdout, err := list.Output()
	require.NoError(t, err, "go list: %s", &stderr)

	g := graph{roots: roots, imports: make(map[string][]string)}
	for packages := json.NewDecoder(strings.NewReader(string(stdout))); ; {
		var p struct {
			ImportPath string
			Imports    []string
			Standard   bool
		}
		err := packages.Decode(&p)
		if errors.Is(err, io.EOF) {
			return g
		}
		require.NoError(t, err)
		g.imports[p.ImportPath] = slices.Sorted(slices.Values(p.Imports))
		if !p.Standard {
			g.foreign = append(g.foreign, p.ImportPath)
		}
	}
}

// denied tells which packages of the graph are at or below one of the paths, each with the shortest
// way on which a root imports it.
func (g graph) denied(paths []string) []string {
	var found []string
	for pkg := range g.imports {
		for _, path := range paths {
			if pkg == path || strings.HasPrefix(pkg, path+"/") {
				found = append(found, strings.Join(g.chain(pkg), " > "))
			}
		}
	}
	slices.Sort(found)
	return found
}

// chain returns a shortest way from a root to a package.
func (g graph) chain(pkg string) []string {
	var queue [][]string
	for _, root := range g.roots {
		queue = append(queue, []string{root})
	}
	seen := make(map[string]bool)
	for len(queue) > 0 {
		way := queue[0]
		queue = queue[1:]
		last := way[len(way)-1]
		if last == pkg {
			return way
		}
		for _, next := range g.imports[last] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, append(slices.Clip(way), next))
			}
		}
	}
	panic(fmt.Sprintf("go list shows %s, which no root imports", pkg))
}

// byModule tells from where how many of the foreign packages come, for a message about what grew.
func (g graph) byModule() string {
	count := make(map[string]int)
	for _, pkg := range g.foreign {
		parts := strings.Split(pkg, "/")
		count[strings.Join(parts[:min(3, len(parts))], "/")]++
	}
	var lines []string
	for module, n := range count {
		lines = append(lines, fmt.Sprintf("%4d %s", n, module))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// others returns the foreign packages that are not ours.
func (g *graph) others() (all []string) {
	for _, pkg := range g.foreign {
		if pkg != module && !strings.HasPrefix(pkg, module+"/") {
			all = append(all, pkg)
		}
	}
	return all
}
