package output_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/worker/internal/output"
)

// inParts writes a text in pieces of any size.
func inParts(t *rapid.T, text string, write func([]byte) (int, error)) {
	for len(text) > 0 {
		n := rapid.IntRange(1, len(text)).Draw(t, "part")
		written, err := write([]byte(text[:n]))
		require.NoError(t, err)
		require.Equal(t, n, written)
		text = text[n:]
	}
}

func TestTheBeginningAndTheEndAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z]{0,60}`).Draw(t, "text")
		most := rapid.IntRange(0, 20).Draw(t, "most")
		e := output.NewEnds(most)
		inParts(t, text, e.Write)
		require.Equal(t, int64(len(text)), e.Bytes())
		want := text
		if left := len(text) - 2*most; left > 0 {
			want = text[:most] + "\n... " + strconv.Itoa(left) + " bytes are left out ...\n" + text[len(text)-most:]
		}
		require.Equal(t, want, e.String())
		last := rapid.IntRange(0, most).Draw(t, "last")
		if last < len(text) {
			require.Equal(t, "..."+text[len(text)-last:], e.Last(last))
		} else {
			require.Equal(t, text, e.Last(last))
		}
	})
}

// No secret gets through, in whatever parts it is written, and nothing else is lost.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringMatching(`[ab]{5,9}`), 0, 3).Draw(t, "secrets")
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.StringMatching(`[abc]{0,7}`), rapid.SampledFrom(append(secrets, "x"))), 0, 8).Draw(t, "pieces"), "")
		var out bytes.Buffer
		r := output.NewRedactor(&out, secrets)
		inParts(t, text, r.Write)
		require.NoError(t, r.Flush())
		for _, s := range secrets {
			require.NotContains(t, out.String(), s)
		}
		if len(secrets) == 0 {
			require.Equal(t, text, out.String())
		}
		var whole bytes.Buffer
		at := output.NewRedactor(&whole, secrets)
		_, err := at.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, at.Flush())
		require.Equal(t, whole.String(), out.String(), "however it is cut")
	})
}

func TestAShortSecretStays(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := output.NewRedactor(&out, []string{"1", "", "swordfish"})
	_, err := r.Write([]byte("11 swordfish swordfis"))
	require.NoError(t, err)
	require.NoError(t, r.Flush())
	require.Equal(t, "11 [hidden] swordfis", out.String())

	out.Reset()
	r = output.NewRedactor(&out, []string{"swordfish", "swordfishes and more"})
	_, err = r.Write([]byte("swordfish"))
	require.NoError(t, err)
	require.NoError(t, r.Flush())
	require.Equal(t, "[hidden]", out.String(), "what could have become a longer one")
}

func TestFilesAreRotated(t *testing.T) {
	t.Parallel()
	for _, older := range []int{0, 2} {
		dir := t.TempDir()
		files := output.Files{Directory: dir, Size: 10, Older: older}
		for _, text := range []string{"0123456789ab", "cdef", strings.Repeat("x", 21)} {
			f, err := files.Open("orders", 3)
			require.NoError(t, err)
			_, err = f.Write([]byte(text))
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
		names, err := filepath.Glob(dir + "/orders/*")
		require.NoError(t, err)
		require.Len(t, names, older+1)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			require.LessOrEqual(t, len(text), 10)
		}
		text, err := os.ReadFile(dir + "/orders/3.log")
		require.NoError(t, err)
		require.Equal(t, "xxxxxxx", string(text))
	}
}

// A job cannot make the worker write outside of the folder.
func TestFilesStayInTheirFolder(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(other, dir+"/orders"))
	_, err := output.Files{Directory: dir, Size: 10}.Open("orders", 0)
	require.Error(t, err)
	_, err = output.Files{Directory: dir, Size: 10}.Open("../orders", 0)
	require.Error(t, err)
	_, err = output.Files{Directory: dir + "/none", Size: 10}.Open("orders", 0)
	require.ErrorIs(t, err, os.ErrNotExist)
}
