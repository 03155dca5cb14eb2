package registrytest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry/memory"
)

// witness is a test that only notes how it would have failed.
type witness struct {
	testing.TB
	failed string
}

func (w *witness) Fatalf(format string, args ...any) { w.failed = fmt.Sprintf(format, args...) }

// bare is a backend that can do nothing but open handles.
func bare() Backend {
	return Backend{Start: func(testing.TB, []Ability) *Store {
		server := memory.NewServer()
		return &Store{
			TTL: time.Hour,
			Open: func(_ testing.TB, namespace string) *Participant {
				return &Participant{Registry: server.Open(namespace)}
			},
		}
	}}
}

func TestUndeclaredLackFails(t *testing.T) {
	t.Parallel()
	for _, ability := range []Ability{Cut, Expire, LoseAnswer, Vanish, BreakWatch, Restart, Compact, Full} {
		w := &witness{TB: t}
		newEnv(w, bare(), []Ability{ability}).open()
		require.Contains(t, w.failed, string(ability))
		require.Contains(t, w.failed, "does not declare that it lacks it")
	}
}

func TestNothingIsAskedOfCasesThatNeedNothing(t *testing.T) {
	t.Parallel()
	w := &witness{TB: t}
	newEnv(w, bare(), nil).open()
	require.Empty(t, w.failed)
}

func TestDeclaredLackIsSkippedWithItsReason(t *testing.T) {
	t.Parallel()
	backend := bare()
	backend.Lacks = map[Ability]string{Cut: "it has no wire"}
	skipped := false
	t.Run("skipped", func(t *testing.T) {
		t.Cleanup(func() { skipped = t.Skipped() })
		runCase(t, backend, testCase{needs: []Ability{Expire, Cut}, run: func(*env) { panic("must not run") }})
	})
	require.True(t, skipped)
}

// TestCasesAreNamed pins that every case can be called by its name alone, and says a sentence.
func TestCasesAreNamed(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for _, theme := range themes() {
		require.NotEmpty(t, theme.cases, theme.name)
		for _, c := range theme.cases {
			name := theme.name + "/" + c.name
			require.False(t, names[name], name)
			require.False(t, strings.ContainsAny(c.name, " /#"), name)
			require.NotNil(t, c.run, name)
			names[name] = true
		}
	}
}
