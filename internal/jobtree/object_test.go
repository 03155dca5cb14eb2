package jobtree

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The members that we find must be those that encoding/json finds, whatever the text is.
func FuzzObjectMembers(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, ` { } `, `{"a":1}`, `{"a":1,"b":"x","c":null}`, `[{"a":1}]`, `{"a":{"b":[1,{"c":"}"}]},"d":-1.5e3}`,
		"{\n\t\"a\" : \"\\\"\\\\\" ,\r \"\\u0062\":true}", `{"a":"\ud83d\ude00"}`, `{"a":1}{`, "{\"a\":\"\xff\"}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := parseObject(text)
		var want map[string]json.RawMessage
		if err != nil {
			return
		}
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		got := make(map[string]json.RawMessage)
		for m := range o.members() {
			got[m.name] = json.RawMessage(m.value)
			require.True(t, json.Valid([]byte("{"+m.text+"}")), m.text)
			requireSameText(t, m.value)
		}
		require.Equal(t, len(want), len(got))
		for name, value := range want {
			require.Equal(t, string(value), string(got[name]))
		}
	})
}

func requireSameText(t *testing.T, value string) {
	t.Helper()
	if value[0] != '"' {
		return
	}
	var want string
	require.NoError(t, json.Unmarshal([]byte(value), &want))
	require.Equal(t, want, unquote(value))
}

func TestParseObjectTakesObjectsOnly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "null", "1", `"{}"`, "[]", "{", "}", "{}}", `{"a"}`, `{"a":}`, "{\"a\":\"\xff\"}"} {
		_, err := parseObject(text)
		require.ErrorIs(t, err, ErrInvalidValue, text)
	}
	for _, text := range []string{"{}", " {}\n", `{"a":{}}`} {
		_, err := parseObject(text)
		require.NoError(t, err, text)
	}
}

func TestMembersCanBeLeftEarly(t *testing.T) {
	t.Parallel()
	for m := range object(`{"a":1,"b":2}`).members() {
		require.Equal(t, member{name: "a", text: `"a":1`, value: "1"}, m)
		break
	}
}
