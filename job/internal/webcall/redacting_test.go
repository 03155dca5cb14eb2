package webcall

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hiding hides one secret.
type hiding struct{}

func (hiding) Redact(text string) string { return strings.ReplaceAll(text, "swordfish", "env:KEY") }

func (h hiding) RedactCut(text string) string { return strings.TrimSuffix(h.Redact(text), "sword") }

// No secret gets through, wherever it stands and in whatever parts it comes, and nothing else is lost.
func TestSecretsOfAnAnswerAreHidden(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		r := &redacting{to: &out, redact: hiding{}}
		var all strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "pieces") {
			piece := strings.Repeat("x", rapid.SampledFrom([]int{0, 1, longestSecret - 5, 2*longestSecret - 4, 2 * longestSecret}).Draw(t, "filler")) + "swordfish"
			all.WriteString(piece)
			for len(piece) > 0 {
				n := min(len(piece), rapid.SampledFrom([]int{3, 32 << 10, longestSecret}).Draw(t, "part"))
				if len(piece) > 1<<10 && n < 1<<10 {
					n = len(piece) - 5 // few small parts are enough
				}
				written, err := r.Write([]byte(piece[:n]))
				require.NoError(t, err)
				require.Equal(t, n, written)
				piece = piece[n:]
			}
		}
		require.NoError(t, r.flush(false))
		require.True(t, hiding{}.Redact(all.String()) == out.String(), "however it is cut") //nolint:testifylint // nobody reads megabytes
	})
}

// Whoever is called may repeat in a redirect what it was told, and the error of a call names where that leads.
func TestSecretsOfAnErrorAreHidden(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/swordfish", http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	for _, redact := range []Redactor{nil, hiding{}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		require.NoError(t, err)
		_, err = New(Limits{Redact: redact, Bytes: 1, Redirects: 1}).Do(t.Context(), req)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.Equal(t, redact == nil, strings.Contains(err.Error(), "swordfish"), err)
	}
}
