package texts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/internal/texts"
)

func TestComment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "# \n",
		"a\nb\n":                        "# a\n# b\n# \n",
		"a\r\nb\rc":                     "# a\n# b\n# c\n",
		"a\u0085b\u2028c\u2029d":        "# a\n# b\n# c\n# d\n",
		"tab\t, \x00, \x1b, \x7f, \xff": "# tab\t, \uFFFD, \uFFFD, \uFFFD, \uFFFD\n",
		"\uFEFFä 名 😀 \uFFFF":            "# \uFFFDä 名 😀 \uFFFD\n",
	} {
		require.Equal(t, want, texts.Comment(text), "%q", text)
	}
}

// Whatever stands in a comment, the file says what it says without it.
func FuzzComment(f *testing.F) {
	for _, text := range []string{"x\u2028payroll: {a: b}\u2028# ", "a\nb: c", "\r- x", "\u0085? ", "\xe2\x80", "---\n...", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var file map[string]string
		require.NoError(t, yaml.NewDecoder(strings.NewReader(texts.Comment(text)+"a: b\n"+texts.Comment(text))).Decode(&file))
		require.Equal(t, map[string]string{"a": "b"}, file)
	})
}
