package javayaml_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/javayaml"
)

// What SnakeYAML 2.2 dumps of a bean with such a property.
func TestTextsAsSnakeYAMLWritesThem(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("words ", 15)
	for value, want := range map[string]string{
		"":                    "''",
		"0/5 * * * * ?":       "0/5 * * * * ?",
		"* * * * * ?":         "'* * * * * ?'",
		"0=A,1=B":             "0=A,1=B",
		"GMT+08:00":           "GMT+08:00",
		"true":                "'true'",
		"12":                  "'12'",
		"1.5":                 "'1.5'",
		"null":                "'null'",
		"2026-01-02":          "'2026-01-02'",
		"1:30":                "'1:30'",
		"a: b":                "'a: b'",
		"a:b":                 "a:b",
		"a #b":                "'a #b'",
		"a#b":                 "a#b",
		"-x":                  "-x",
		"- x":                 "'- x'",
		"it's":                "it's",
		"'it's'":              "'''it''s'''",
		" lead":               "' lead'",
		"trail ":              "'trail '",
		"{a}":                 "'{a}'",
		"作业":                  "作业",
		"tab\there":           `"tab\there"`,
		"a\nb":                "|-\n  a\n  b",
		"a\nb\n":              "|\n  a\n  b",
		"a\n\nb\n\n":          "|+\n  a\n\n  b\n",
		"sh -c \"a && b\"":    "sh -c \"a && b\"",
		words + "end":         strings.TrimSuffix(strings.Repeat("words ", 14), " ") + "\n  words end",
		"#" + words + "end":   "'#" + strings.TrimSuffix(strings.Repeat("words ", 13), " ") + "\n  words words end'",
		"/opt/job.sh --a=\"b": "/opt/job.sh --a=\"b",
	} {
		require.Equal(t, "k: "+want+"\n", string(javayaml.AppendText(nil, 0, "k", value)), "%q", value)
	}
}

// aText draws texts with what is special in YAML.
func aText() *rapid.Generator[string] {
	special := rapid.SampledFrom([]string{
		"a", "B", " ", "  ", "\n", "\n\n", ":", ": ", "#", " #", "'", "\"", "\\", "-", "- ", "?", "*", "&", "{", "}", "[", "]", ",", "|", ">", "%", "@", "`", "!",
		"0", "12", "true", "null", "~", "=", "\t", "\r", "\u0085", "\u2028", "\u00a0", "\ufeff", "é", "作", "\U0001f680", "\x00", "\x1b", "words and words",
	})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(special, 0, 40).Draw(t, "parts"), "") })
}

// Whatever is written is read back, here and by another reader of YAML.
func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first, second, inside := aText().Draw(t, "first"), aText().Draw(t, "second"), aText().Draw(t, "inside")
		text := javayaml.AppendText(nil, 0, "first", first)
		text = javayaml.AppendMapping(text, 0, "props")
		text = javayaml.AppendText(text, 1, "some.name", inside)
		text = javayaml.AppendPlain(text, 1, "n", "12")
		text = javayaml.AppendText(text, 0, "second", second)

		members, err := javayaml.Members(string(text))
		require.NoError(t, err, "%s", text)
		require.Len(t, members, 3, "%s", text)
		requireText(t, first, members[0], text)
		requireText(t, second, members[2], text)
		within, err := members[1].Mapping()
		require.NoError(t, err, "%s", text)
		require.Len(t, within, 2, "%s", text)
		requireText(t, inside, within[0], text)
		n, err := within[1].Number()
		require.NoError(t, err)
		require.Equal(t, 12, n)

		var other struct {
			First, Second string
			Props         struct {
				Name string `yaml:"some.name"`
				N    int
			}
		}
		require.NoError(t, yaml.Unmarshal(text, &other), "%s", text)
		require.Equal(t, []string{first, second, inside}, []string{other.First, other.Second, other.Props.Name}, "%s", text)
	})
}

func requireText(t require.TestingT, want string, m javayaml.Member, all []byte) {
	got, null, err := m.Scalar()
	require.NoError(t, err, "%s", all)
	require.False(t, null, "%s", all)
	require.Equal(t, want, got, "%s", all)
}

// What hands and other writers of YAML make of a configuration is read, too.
func TestOtherYAML(t *testing.T) {
	t.Parallel()
	const text = `---
# by hand
jobName: "orders" # the name
"cron": '0/5 * * *
  * ?'
description: one
  two

  three
failover: yes
shardingTotalCount: '3'
none: ~
nothing:
jobListenerTypes:
- a
- b
jobExtraConfigurations: []
props: {}
script: |2-
   indented
  less
folded: "a \
  b\u4f5c\ud83d\ude80"
`
	members, err := javayaml.Members(text)
	require.NoError(t, err)
	texts, by := map[string]string{}, map[string]javayaml.Member{}
	for _, m := range members {
		by[m.Name] = m
		if text, _, err := m.Scalar(); err == nil {
			texts[m.Name] = text
		}
	}
	require.Equal(t, map[string]string{
		"jobName": "orders", "cron": "0/5 * * * * ?", "description": "one two\nthree", "failover": "yes", "shardingTotalCount": "3",
		"none": "", "nothing": "", "script": " indented\nless", "folded": "a b作\U0001f680",
	}, texts)
	on, err := by["failover"].Flag()
	require.NoError(t, err)
	require.True(t, on)
	n, err := by["shardingTotalCount"].Number()
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, "jobListenerTypes:\n- a\n- b\n", by["jobListenerTypes"].Text)
	props, err := by["props"].Mapping()
	require.NoError(t, err)
	require.Empty(t, props)
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"jobName: a\njobName: b\n": `line 2: "jobName" is there twice`,
		"{\"jobName\":\"a\"}":      "line 1: must be a member",
		"- a\n":                    "line 1: must be a member",
		"jobName\n":                "line 1: must be a member",
		"'a\n":                     "line 1: the name has no closing quote",
	} {
		_, err := javayaml.Members(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
	for text, want := range map[string]string{
		"a: 'b\n":        "line 1: a has no closing quote",
		"a: 'b' c\n":     "behind its closing quote",
		"a: \"\\q\"\n":   "no meaning",
		"a: [b]\n":       "as SnakeYAML writes it",
		"a: &b c\n":      "as SnakeYAML writes it",
		"a: !!str b\n":   "as SnakeYAML writes it",
		"a:\n- b\n":      "must be a text or a number",
		"a:\n  b: c\n":   "must be a text or a number",
		"a: b: c\n":      "must be quoted",
		"a: |x\n  b\n":   "must begin with |",
		"a: |2\n b\n":    "indented alike",
		"a: \"\\u00\"\n": "no meaning",
	} {
		members, err := javayaml.Members(text)
		require.NoError(t, err, "%q", text)
		_, _, err = members[0].Scalar()
		require.ErrorContains(t, err, want, "%q", text)
	}
	members, err := javayaml.Members("a: 012\nb: maybe\nc: 3000000000\nd: x\ne:\n")
	require.NoError(t, err)
	for i, read := range []func(javayaml.Member) error{number, flag, number, mapping, number} {
		require.Error(t, read(members[i]))
	}
}

func number(m javayaml.Member) error  { _, err := m.Number(); return err }
func flag(m javayaml.Member) error    { _, err := m.Flag(); return err }
func mapping(m javayaml.Member) error { _, err := m.Mapping(); return err }

// Nothing that somebody may have stored breaks the reader.
func FuzzMembers(f *testing.F) {
	f.Add("a: b\nc:\n  d: 'e'\n")
	f.Add("a: |-\n  b\n\n  c\nd: \"e \\\n  f\"\n")
	f.Add("? a\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		members, err := javayaml.Members(text)
		if err != nil {
			return
		}
		for _, m := range members {
			_, _, _ = m.Scalar()
			_, _ = m.Number()
			_, _ = m.Flag()
			_, _ = m.Mapping()
		}
	})
}

// Each process reads a configuration whenever it changes, and has other things to do.
func TestLongTextsAreReadOnce(t *testing.T) {
	for _, line := range []string{"  x\n", "\n"} {
		text := "jobParameter: |\n" + strings.Repeat(line, 20_000)
		members, err := javayaml.Members(text)
		require.NoError(t, err)
		require.Equal(t, text, members[0].Text)
		var size runtime.MemStats
		runtime.ReadMemStats(&size)
		before := size.TotalAlloc
		_, err = javayaml.Members(text)
		require.NoError(t, err)
		runtime.ReadMemStats(&size)
		require.Less(t, size.TotalAlloc-before, uint64(10<<20))
	}
}
