package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/docs/markdown"
)

// Every link that stays in the repository leads to a file that is there and, with an anchor, to a heading of it.
func TestLinks(t *testing.T) {
	t.Parallel()
	all, seen := pages(t), 0
	for name, page := range all {
		for _, l := range page.Links {
			if strings.Contains(l.Target, "://") || strings.HasPrefix(l.Target, "mailto:") {
				continue
			}
			seen++
			if fault := follow(all, name, l); fault != "" {
				t.Errorf("%s:%d: the link %q: %s", name, l.Line, l.Target, fault)
			}
		}
	}
	require.Greater(t, seen, 50)
}

// Every folder of examples that a page names is there.
func TestExamplesThatPagesName(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, page := range pages(t) {
		for _, s := range page.Spans {
			if at := strings.Index(s.Text, "examples/"); at >= 0 && (at == 0 || strings.HasPrefix(s.Text, "go run ./")) {
				seen++
				require.DirExists(t, filepath.Join(root, filepath.FromSlash(s.Text[at:])), "%s:%d", name, s.Line)
			}
		}
	}
	require.Greater(t, seen, 10)
}

// follow goes where a link of a page leads, and tells what is wrong there; empty if nothing is.
func follow(all map[string]markdown.Page, from string, l markdown.Link) string {
	file, anchor, anchored := strings.Cut(l.Target, "#")
	to := from
	if file != "" {
		to = path.Join(path.Dir(from), file)
	}
	if strings.HasPrefix(to, "..") {
		return "it leaves the repository"
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
		return "there is no such file"
	}
	if !anchored {
		return ""
	}
	page, ok := all[to]
	if !ok {
		return "an anchor of a file that is no page"
	}
	switch once, found := page.Anchors[anchor]; {
	case !found:
		return "there is no such heading"
	case !once:
		return "two headings have that name"
	}
	return ""
}

func TestFollow(t *testing.T) {
	t.Parallel()
	all := map[string]markdown.Page{
		"README.md":            {},
		"docs/operating.md":    {Anchors: map[string]bool{"logs": true, "options": false}},
		"docs/guarantees.md":   {},
		"docs/no-such-file.md": {},
	}
	for target, want := range map[string]string{
		"operating.md": "", "#logs": "", "operating.md#logs": "", "../README.md": "", "../Makefile": "", "../examples": "",
		"missing.md":         "there is no such file",
		"operating.md#gone":  "there is no such heading",
		"#options":           "two headings have that name",
		"../Makefile#test":   "an anchor of a file that is no page",
		"../../elsewhere.md": "it leaves the repository",
	} {
		require.Equal(t, want, follow(all, "docs/operating.md", markdown.Link{Target: target}), target)
	}
}
