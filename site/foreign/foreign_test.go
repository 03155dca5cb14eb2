package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'self'; img-src 'self'">`

func TestInPage(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, page, want string }{
		{"nothing", `<script src="a.js"></script><link rel="stylesheet" href="../a.css"><img src="data:image/png;base64,x">`, ""},
		{"links that are followed", `<a href="https://example.com">x</a><link rel="canonical" href="https://example.com">`, ""},
		{"a script", `<script async src="https://example.com/a.js"></script>`, "<script src> loads https://example.com/a.js"},
		{"without a scheme", `<script src="//example.com/a.js"></script>`, "<script src> loads //example.com/a.js"},
		{"a style", `<link rel="stylesheet" href="https://fonts.example.com/css">`, "<link href> loads https://fonts.example.com/css"},
		{"a font is fetched early", `<link rel="preconnect" href="https://fonts.example.com">`, "<link href> loads https://fonts.example.com"},
		{"a picture", `<img alt="x" src=" HTTPS://example.com/a.png"/>`, "<img src> loads HTTPS://example.com/a.png"},
		{"one of several", `<img srcset="a.png 1x, https://example.com/b.png 2x">`, "<img srcset> loads https://example.com/b.png 2x"},
		{"a style in the page", `<style>@import "https://example.com/a.css";</style>`, "a style loads https://example.com/a.css"},
		{"a style of an element", `<p style="background: url('http://example.com/a.png')">`, "a style loads http://example.com/a.png"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := []string{tt.want}
			if tt.want == "" {
				want = nil
			}
			require.Equal(t, want, inPage(policy+tt.page))
		})
	}
	require.Len(t, inPage("<p>no policy</p>"), 1)
	require.Len(t, inPage(`<meta http-equiv="Content-Security-Policy" content="default-src *;">`), 1)
}

func TestInStyle(t *testing.T) {
	t.Parallel()
	require.Empty(t, inStyle(`a{background:url(../a.png)} @import "b.css"; b{background:url("data:image/svg+xml;x")}`))
	require.Equal(t, []string{"a style loads https://example.com/a.woff2", "a style loads //example.com/b.css"},
		inStyle(`@font-face{src:url(https://example.com/a.woff2)} @import url(//example.com/b.css);`))
}

func TestInFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := inFolder(folder)
	require.ErrorContains(t, err, "there is no page")
	require.NoError(t, os.Mkdir(filepath.Join(folder, "a"), 0o700))
	for name, text := range map[string]string{
		"index.html": policy, "a/index.html": policy + `<script src="//example.com/a.js"></script>`,
		"a.css": "a{background:url(//example.com/a.png)}", "a.js": "//example.com", "a.svg": "<style>a{fill:url(#a)}</style>",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	found, err := inFolder(folder)
	require.NoError(t, err)
	require.Equal(t, []string{
		filepath.Join(folder, "a", "index.html") + ": <script src> loads //example.com/a.js",
		filepath.Join(folder, "a.css") + ": a style loads //example.com/a.png",
	}, found)
}
