package jobtree

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPlainObject(t *testing.T) {
	t.Parallel()
	for text, plain := range map[string]bool{
		`{}`: true,
		`{"state":"idle","n":10,"m":-3,"z":0,"yes":true,"no":false,"in":{"a":{},"b":"~ !"}}`: true,
		strings.Repeat(`{"a":`, plainDepth-1) + `{}` + strings.Repeat(`}`, plainDepth-1):     true,
		strings.Repeat(`{"a":`, plainDepth) + `{}` + strings.Repeat(`}`, plainDepth):         false, // what follows is for encoding/json to say
		` {}`: false, `{} `: false, `{"a":1, "b":2}`: false, `{"a":[]}`: false, `{"a":null}`: false, `{"a":1.5}`: false,
		`{"a":1e3}`: false, `{"a":"\n"}`: false, `{"a":"é"}`: false, "{\"a\":\"\x7f\"}": false, "{\"a\":\"\t\"}": false,
		``: false, `{`: false, `}`: false, `{}}`: false, `{"a"}`: false, `{"a":}`: false, `{"a":1`: false, `{"a":1,}`: false, // what follows is not JSON
		`{,}`: false, `{a:1}`: false, `{"a":01}`: false, `{"a":-}`: false, `{"a":truer}`: false, `{"a" 1}`: false, `{"a":"`: false,
	} {
		require.Equal(t, plain, plainObject(text), text)
	}
}

// What is plain is a JSON object, whatever the text is.
func TestWhatIsPlainIsJSON(t *testing.T) {
	t.Parallel()
	parts := rapid.SampledFrom([]string{
		`{`, `}`, `"`, `:`, `,`, `"a"`, `"a":`, `{"a":`, `1`, `0`, `-`, `true`, `false`, `null`, `\`, ` `, "\xff", `[`, `]`, `.`, `{}`, `"b":1}`,
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 12).Draw(t, "parts"), "")
		if plainObject(text) {
			require.True(t, utf8.ValidString(text) && json.Valid([]byte(text)), text)
		}
	})
}

func FuzzPlainObject(f *testing.F) {
	f.Add(`{"state":"idle","counts":{"success":12},"current":{"instance":"10.0.0.1@-@a","begin":"2026-01-02T12:00:00.5Z"}}`)
	f.Add(`{"a":-0}`)
	f.Fuzz(func(t *testing.T, text string) {
		if plainObject(text) {
			require.True(t, utf8.ValidString(text) && json.Valid([]byte(text)), text)
		}
	})
}
