package texts_test

import (
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/texts"
)

func TestTextIsWhatADatabaseTakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		limit      int
		want       string
	}{
		{"fits", "abc", 3, "abc"},
		{"empty", "", 3, ""},
		{"cut", "abcd", 3, "abc"},
		{"characters, not bytes", "äöü", 3, "äöü"},
		{"cut between characters", "a€€€", 3, "a€€"},
		{"four bytes each", strings.Repeat("😀", 9), 3, "😀😀😀"},
		{"zero", "a\x00b", 3, "a\uFFFDb"},
		{"invalid", "a\xffb", 3, "a\uFFFDb"},
		{"long and invalid at the cut", "ab" + strings.Repeat("\x80", 100), 3, "ab\uFFFD"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.want, texts.Clean(row.text, row.limit))
		})
	}
}

// What is kept of a text of a megabyte does not keep the megabyte.
func TestTextLetsGoOfTheRest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("x", 1000), strings.Repeat("😀", 1000), strings.Repeat("€", 5)} {
		cleaned := texts.Clean(text, 4)
		require.Equal(t, string([]rune(text)[:4]), cleaned)
		require.NotSame(t, unsafe.StringData(text), unsafe.StringData(cleaned))
	}
}

func TestTextKeepsTheHead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		limit := rapid.IntRange(0, 12).Draw(t, "limit")
		want := []rune(strings.ReplaceAll(text, "\x00", "\uFFFD"))
		require.Equal(t, string(want[:min(limit, len(want))]), texts.Clean(text, limit))

		bytes := string(rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes"))
		got := texts.Clean(bytes, limit)
		require.True(t, utf8.ValidString(got))
		require.LessOrEqual(t, utf8.RuneCountInString(got), limit)
		require.NotContains(t, got, "\x00")
	})
}
