package texts_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/texts"
)

func TestAppendGson(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       `""`,
		"plain ä 作业 😀 /":         `"plain ä 作业 😀 /"`,
		`<a href='x'>&=</a>`:     `"\u003ca href\u003d\u0027x\u0027\u003e\u0026\u003d\u003c/a\u003e"`,
		"\"\\":                   `"\"\\"`,
		"\t\b\n\r\f\x00\x1f":     `"\t\b\n\r\f\u0000\u001f"`,
		"\x7f\u2028\u2029\ufffd": "\"\x7f\\u2028\\u2029\ufffd\"",
		"a\xffb":                 "\"a\ufffdb\"",
	} {
		require.Equal(t, "x"+want, string(texts.AppendGson([]byte("x"), text)), "%q", text)
	}
}

func FuzzAppendGson(f *testing.F) {
	f.Add("a=<b>&'\u2028\xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		var back string
		quoted := texts.AppendGson(nil, text)
		require.NoError(t, json.Unmarshal(quoted, &back))
		require.Equal(t, string([]rune(text)), back, "every stray byte is one U+FFFD")
		require.NotContains(t, string(quoted), "=")
	})
}
