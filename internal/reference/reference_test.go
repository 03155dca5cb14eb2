package reference_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/reference"
)

func TestHasLogin(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://anna:swordfish@h:2379": true, "https://anna@h": true, "anna:swordfish@h:2379": true, "http://@h": true,
		"http://h:2379": false, "h:2379": false, "http://h/a@b": false, "http://h?a@b": false,
		"http://anna:sword/fish@h:2379": true, "anna:sword#fish@h:2379": true, "https://anna:4?2@h": false, "https://anna:s?2@h": true,
		"http://[::1]:2379/a@b": false, "http://h:80/a@b": false, "h:http/a": false, "unix:///run/a@b": false, "": false,
	} {
		require.Equal(t, want, reference.HasLogin(address), address)
	}
}

func TestWhatIsAReference(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ is, almost bool }{
		"env:SMTP_PASSWORD":  {is: true},
		"env:_a.b-c1":        {is: true},
		"file:/run/secrets/": {is: true},
		"file:/a b/ü":        {is: true},
		"env:":               {almost: true},
		"env: prod":          {almost: true},
		"env:1A":             {almost: true},
		"env:A=B":            {almost: true},
		"file:":              {almost: true},
		"file:secret":        {almost: true},
		"file:/a\x00b":       {almost: true},
		"":                   {},
		"ENV:A":              {},
		" env:A":             {},
		"environment":        {},
		"http://a/env:A":     {},
	} {
		require.Equal(t, want.is, reference.Is(text), "%q", text)
		require.Equal(t, want.almost, reference.Almost(text), "%q", text)
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return "file:" + path
	}
	t.Setenv("REFERENCE_SET", " swordfish ")
	t.Setenv("REFERENCE_EMPTY", "")
	t.Setenv("REFERENCE_LINE", "sword\nfish\n")
	t.Setenv("REFERENCE_WINDOWS", "swordfish\r\n")
	t.Setenv("REFERENCE_END", "\n")
	for name, test := range map[string]struct{ text, want, fault string }{
		"a variable, as it is":     {text: "env:REFERENCE_SET", want: " swordfish "},
		"an empty variable":        {text: "env:REFERENCE_EMPTY", fault: "it is not set, or empty"},
		"a variable of a line":     {text: "env:REFERENCE_LINE", want: "sword\nfish"},
		"a variable of Windows":    {text: "env:REFERENCE_WINDOWS", want: "swordfish"},
		"a variable of a line end": {text: "env:REFERENCE_END", fault: "it is not set, or empty"},
		"a variable that is none":  {text: "env:REFERENCE_NONE", fault: "it is not set, or empty"},
		"a file":                   {text: file("plain", "swordfish"), want: "swordfish"},
		"a file with a line end":   {text: file("line", "sword\nfish\n\n"), want: "sword\nfish"},
		"a file of Windows":        {text: file("windows", "swordfish\r\n"), want: "swordfish"},
		"spaces are part of it":    {text: file("spaces", " swordfish \n"), want: " swordfish "},
		"an empty file":            {text: file("empty", "\n"), fault: "the file is empty"},
		"a file that is too long":  {text: file("long", strings.Repeat("x", 65537)), fault: "the file is longer than 65536 bytes"},
		"the longest file":         {text: file("longest", strings.Repeat("x", 65536)), want: strings.Repeat("x", 65536)},
		"a file that is no text":   {text: file("binary", "\xff\xfe"), fault: "not valid UTF-8"},
		"a file that is not there": {text: "file:" + dir + "/none", fault: "no such file"},
		"a folder":                 {text: "file:" + dir, fault: "no regular file"},
		"a device without an end":  {text: "file:/dev/zero", fault: "no regular file"},
	} {
		got, err := reference.Resolve(test.text)
		require.Equal(t, test.want, got, name)
		if test.fault == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, test.fault, name)
	}
}
