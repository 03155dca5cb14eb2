package markdown_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/docs/markdown"
)

const page = "# A *page* of `code`, and more\n" +
	"\n" +
	"See [there](other.md#some-where) and ![a picture](p.svg)\nor <https://example.com>, with `elasticron get\njobs`.\n" +
	"\n" +
	"| a | b |\n| --- | --- |\n| [c](c.md) | `d` |\n" +
	"\n" +
	"## Twice\n\n## Twice\n" +
	"\n" +
	"- one:\n" +
	"\n" +
	"  ```sh\n  # a comment\n  make all \\\n    PKG=x\n\n  ls # two\n  ```\n"

func TestAPage(t *testing.T) {
	t.Parallel()
	p := markdown.Parse([]byte(page))
	require.Equal(t, map[string]bool{"a-page-of-code-and-more": true, "twice": false}, p.Anchors)
	require.Equal(t, []markdown.Link{
		{Target: "other.md#some-where", Line: 3},
		{Target: "p.svg", Picture: true, Line: 3},
		{Target: "https://example.com", Line: 3},
		{Target: "c.md", Line: 9},
	}, p.Links)
	require.Equal(t, []markdown.Span{{Text: "code", Line: 1}, {Text: "elasticron get jobs", Line: 3}, {Text: "d", Line: 9}}, p.Spans)
	require.Len(t, p.Blocks, 1)
	require.Equal(t, "sh", p.Blocks[0].Language)
	require.Equal(t, "# a comment\nmake all \\\n  PKG=x\n\nls # two\n", p.Blocks[0].Text)
	require.Equal(t, []markdown.CommandLine{{Text: "make all PKG=x", Line: 20}, {Text: "ls # two", Line: 22}}, p.Blocks[0].CommandLines())
}

func TestAnchor(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		"What is stored in etcd":           "what-is-stored-in-etcd",
		"Limits & costs":                   "limits--costs",
		"ElasticJob 3.x":                   "elasticjob-3x",
		"elasticron get jobs":              "elasticron-get-jobs",
		"a_b, c-d (e): “f”":                "a_b-c-d-e-f",
		"GET /namespaces/{namespace}/jobs": "get-namespacesnamespacejobs",
		" Größe ":                          "größe",
		"1. Share the jobs on ZooKeeper":   "1-share-the-jobs-on-zookeeper",
	} {
		require.Equal(t, want, markdown.Anchor(heading), heading)
	}
}
