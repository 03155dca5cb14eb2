package job_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// What is refused is refused before anything is stored, with an error that shows no value that may be a secret.
func TestPropsThatAreRefused(t *testing.T) {
	t.Parallel()
	const allowed = `must be "env:" and the name of an environment variable, or "file:" and an absolute path, or begin with neither`
	for name, test := range map[string]struct {
		settings map[string]string
		want     string
	}{
		"a name that is no text":    {map[string]string{"a\xff": "b"}, `Props "a\xff" must have names in valid UTF-8`},
		"a value that is no text":   {map[string]string{"a": "b\xff"}, `Props a "" must be valid UTF-8`},
		"a variable without a name": {map[string]string{"a": "env:"}, `Props a "env:" ` + allowed},
		"a variable of two words":   {map[string]string{"a": "env:A B"}, `Props a "env:A B" ` + allowed},
		"a file without a path":     {map[string]string{"a": "file:"}, `Props a "file:" ` + allowed},
		"a file that is relative":   {map[string]string{"a": "file:b/c"}, `Props a "file:b/c" ` + allowed},
		"several":                   {map[string]string{"b": "file:x", "a": "env:"}, `Props a "env:" ` + allowed + "\n" + `Props b "file:x" ` + allowed},
	} {
		cfg := valid()
		cfg.Props = test.settings
		require.EqualError(t, cfg.Validate(), test.want, name)
		require.ErrorIs(t, cfg.Validate(), job.ErrInvalidConfig, name)
	}
}

// Texts that were stored before there were references stay what they were.
func TestPropsThatAreAlmostReferencesAreTexts(t *testing.T) {
	t.Parallel()
	r := job.ReadProps(map[string]string{"http.data": "env: prod", "email.subject": "file:a"})
	require.Equal(t, "env: prod", r.Text("http.data", ""))
	require.Equal(t, "file:a", r.Required("email.subject"))
	require.NoError(t, r.Err())
	require.Equal(t, "env: prod", r.Redact("env: prod"))
}

func TestPropsThatAreAllowed(t *testing.T) {
	t.Parallel()
	for _, settings := range []map[string]string{
		nil, {}, {"": ""}, {"a": "env:HOME", "b": "file:/run/secrets/b", "c": "http://h/env:x", "d": "ENV:x", "e": "<&='\u2028>"},
	} {
		cfg := valid()
		cfg.Props = settings
		require.NoError(t, cfg.Validate(), "%v", settings)
	}
}

func TestDifferencesOfProps(t *testing.T) {
	t.Parallel()
	a, b := valid(), valid()
	a.Props, b.Props = nil, map[string]string{}
	require.Empty(t, a.Differences(b), "none is none")
	a.Props, b.Props = map[string]string{"a": "1", "b": "2"}, map[string]string{"b": "2", "a": "1"}
	require.Empty(t, a.Differences(b))
	b.Props["a"] = "2"
	require.Equal(t, []string{"Props"}, a.Differences(b))
	require.Equal(t, []string{"Props"}, a.Differences(valid()))
}

func TestReferencesAreLookedUpWhereTheyAreUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("from a file\n"), 0o600))
	for name, value := range map[string]string{
		"PROPS_TEXT": "swordfish", "PROPS_FLAG": "TRUE", "PROPS_NUMBER": "7", "PROPS_URL": "https://h/swordfish", "PROPS_LONG": "swordfish and chips",
	} {
		t.Setenv(name, value)
	}
	r := job.ReadProps(map[string]string{
		"text": "env:PROPS_TEXT", "file": "file:" + file, "flag": "env:PROPS_FLAG", "number": "env:PROPS_NUMBER",
		"url": "env:PROPS_URL", "below.long": "env:PROPS_LONG", "below.plain": "plain", "unused": "env:PROPS_NONE", "short": "env:PROPS_SHORT",
	})
	require.Equal(t, "swordfish", r.Text("text", ""))
	require.Equal(t, "from a file", r.Required("file"))
	require.True(t, r.Flag("flag", false))
	require.Equal(t, 7, r.Number("number", 1, 0, 9))
	require.Equal(t, "https://h/swordfish", r.WebAddress("url"))
	require.Equal(t, map[string]string{"long": "swordfish and chips", "plain": "plain"}, r.Below("below."))
	r.Only("", "text", "file", "flag", "number", "url", "below.", "unused", "short")
	require.NoError(t, r.Err(), "what nobody asks for is not looked up")
	require.Equal(t, "env:PROPS_LONG; file:"+file+" env:PROPS_URL env:PROPS_TEXT plain 7",
		r.Redact("swordfish and chips; from a file https://h/swordfish swordfish plain 7"))
	require.Equal(t, "plain env:PROPS_TEXT; ", r.RedactCut("plain swordfish; from a fil"), "cut off within a value")
	require.Equal(t, "plain ", r.RedactCut("plain swordfish and chip"), "of which another is the beginning")
	require.Equal(t, "plain file:"+file, r.RedactCut("plain from a files"), "behind another")
	require.Empty(t, r.RedactCut(""))

	t.Setenv("PROPS_SHORT", "env")
	require.Equal(t, "env", r.Text("short", ""))
	require.Equal(t, "env:PROPS_TEXT in env:PROPS_SHORT", r.Redact("swordfish in env"), "nothing is replaced in what stands for another value")
}

// An answer may repeat a part of the address that was called.
func TestPartsOfAnAddressAreHidden(t *testing.T) {
	t.Setenv("PROPS_ADDRESS", "https://anna:swordfish@hooks.internal:8443/T0/se%20cret?key=k3y-k3y&id=1")
	t.Setenv("PROPS_SHORT", "https://h/a?b")
	const shown = "env:PROPS_ADDRESS"
	r := job.ReadProps(map[string]string{"url": shown, "short": "env:PROPS_SHORT", "plain": "https://h/plainly?key=plain"})
	for _, name := range []string{"url", "short", "plain"} {
		require.NotEmpty(t, r.WebAddress(name))
	}
	require.NoError(t, r.Err())
	for text, want := range map[string]string{
		"Cannot POST /T0/se%20cret":                 "Cannot POST " + shown,
		"no /T0/se cret here":                       "no " + shown + " here",
		"/T0/se%20cret?key=k3y-k3y&id=1 is unknown": shown + " is unknown",
		"?key=k3y-k3y&id=1":                         "?" + shown,
		"key=k3y-k3y&amp;id=1":                      "key=" + shown + "&amp;id=1",
		"bad k3y-k3y or swordfish":                  "bad " + shown + " or " + shown,
		"hooks.internal:8443 is down":               shown + " is down",
		"/ a b 1 h /plainly plain":                  "/ a b 1 h /plainly plain",
	} {
		require.Equal(t, want, r.Redact(text))
	}
}

func TestFaultsShowReferencesAndNoValues(t *testing.T) {
	t.Setenv("PROPS_SECRET", "swordfish")
	t.Setenv("PROPS_BLANK", " ")
	r := job.ReadProps(map[string]string{
		"none": "env:PROPS_NONE", "blank": "env:PROPS_BLANK", "file": "file:/none/such", "number": "env:PROPS_SECRET",
		"word": "env:PROPS_SECRET", "url": "env:PROPS_SECRET", "below.none": "env:PROPS_NONE", "typo": "env:PROPS_SECRET", "own": "env:PROPS_SECRET",
	})
	for range 2 { // each fault once
		require.Empty(t, r.Required("none"))
	}
	r.Required("blank")
	require.Equal(t, "standard", r.Text("file", "standard"))
	require.Equal(t, 1, r.Number("number", 1, 0, 9))
	require.Equal(t, "A", r.Word("word", "A", "B"))
	require.Empty(t, r.Word("none"), "of no words")
	r.WebAddress("url")
	require.Empty(t, r.Below("below."))
	r.Only("typo", "typed")
	r.Text("own", "")
	r.Fault("own", "must be something else")
	require.EqualError(t, r.Err(), strings.Join([]string{
		`Props none "env:PROPS_NONE" must name a variable or a file that this process can read: it is not set, or empty`,
		`Props blank "env:PROPS_BLANK" must not be empty`,
		`Props file "file:/none/such" must name a variable or a file that this process can read: stat /none/such: no such file or directory`,
		`Props number "env:PROPS_SECRET" must be a whole number between 0 and 9`,
		`Props word "env:PROPS_SECRET" must be one of A, B`,
		`Props url "env:PROPS_SECRET" must be an address such as https://example.org/path`,
		`Props below.none "env:PROPS_NONE" must name a variable or a file that this process can read: it is not set, or empty`,
		`Props typo "env:PROPS_SECRET" must not be there: the settings are typed`,
		`Props own "env:PROPS_SECRET" must be something else`,
	}, "\n"))
	require.ErrorIs(t, r.Err(), os.ErrNotExist)
}

func TestReadProps(t *testing.T) {
	t.Parallel()
	r := job.ReadProps(map[string]string{
		"x.text": "t", "x.flag": "TRUE", "x.number": "7", "x.ms": "1500", "x.word": "Post", "x.url": "http://h/p", "x.h.A": "1", "y": "z",
	})
	require.Equal(t, "t", r.Text("x.text", "d"))
	require.Equal(t, "d", r.Text("x.none", "d"))
	require.Equal(t, "t", r.Required("x.text"))
	require.True(t, r.Flag("x.flag", false))
	require.True(t, r.Flag("x.none", true))
	require.Equal(t, 7, r.Number("x.number", 1, 0, 9))
	require.Equal(t, 1, r.Number("x.none", 1, 0, 9))
	require.Equal(t, 1500*time.Millisecond, r.Milliseconds("x.ms", time.Second))
	require.Equal(t, time.Second, r.Milliseconds("x.none", time.Second))
	require.Equal(t, "POST", r.Word("x.word", "GET", "POST"))
	require.Equal(t, "http://h/p", r.WebAddress("x.url"))
	require.Equal(t, map[string]string{"A": "1"}, r.Below("x.h."))
	r.Only("x.", "x.text", "x.flag", "x.number", "x.ms", "x.word", "x.url", "x.h.")
	require.NoError(t, r.Err())
}

// A name that stands for all below it is none itself.
func TestASettingWithoutTheRestOfItsName(t *testing.T) {
	t.Parallel()
	r := job.ReadProps(map[string]string{"x.h.": "1", "x.h.A": "1"})
	require.Equal(t, map[string]string{"A": "1"}, r.Below("x.h."))
	r.Only("x.", "x.h.")
	require.EqualError(t, r.Err(), `Props x.h. "1" must not be there: the settings are x.h.`)
}

func TestReadPropsNamesEveryFault(t *testing.T) {
	t.Parallel()
	r := job.ReadProps(map[string]string{
		"flag": "perhaps", "number": "70", "ms": "1s", "word": "PUT", "url": "ftp://h", "typo.x": "1",
	})
	r.Required("none")
	r.Flag("flag", false)
	r.Number("number", 1, 0, 9)
	r.Milliseconds("ms", time.Second)
	r.Word("word", "GET", "POST")
	r.WebAddress("url")
	r.WebAddress("none")
	r.Only("typo.", "typo.y")
	err := r.Err()
	require.ErrorIs(t, err, job.ErrInvalidConfig)
	for _, want := range []string{
		`Props none "" must not be empty`, `Props flag "perhaps" must be one of false, true`,
		`Props number "70" must be a whole number between 0 and 9`, `Props ms "1s" must be a whole number`,
		`Props word "PUT" must be one of GET, POST`, `Props url "ftp://h" must be an address`,
		`Props typo.x "1" must not be there: the settings are typo.y`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestMaxConcurrentItems(t *testing.T) {
	t.Parallel()
	cfg := valid()
	cfg.MaxConcurrentItems = -1
	require.ErrorContains(t, cfg.Validate(), `MaxConcurrentItems "-1" must be between 0 and 100000`)
	cfg = valid()
	cfg.ExecutorServiceHandler = "com.acme.Pool"
	require.NoError(t, cfg.Validate(), "it may be stored")
}
