package registrytest

import (
	"slices"
	"strings"
	"testing"
)

// testCase is one property. Its name is "Theme/Sentence".
type testCase struct {
	name  string
	needs []Ability
	run   func(e *env)
}

// Run proves that the backend keeps what package registry promises.
func Run(t *testing.T, backend Backend) {
	t.Helper()
	for _, theme := range themes() {
		t.Run(theme.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range theme.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					runCase(t, backend, c)
				})
			}
		})
	}
}

type theme struct {
	name  string
	cases []testCase
}

func themes() []theme {
	return []theme{
		{"Nodes", nodeCases()},
		{"Namespaces", namespaceCases()},
		{"Conditions", conditionCases()},
		{"Transactions", transactionCases()},
		{"Batches", batchCases()},
		{"Turns", turnCases()},
		{"Owners", ownerCases()},
		{"Sessions", sessionCases()},
		{"Outages", outageCases()},
		{"Views", viewCases()},
		{"Recovery", recoveryCases()},
		{"Latches", latchCases()},
		{"Answers", answerCases()},
		{"Space", spaceCases()},
		{"Closing", closingCases()},
		{"Clock", clockCases()},
		{"Size", sizeCases()},
		{"Random", randomCases()},
	}
}

func runCase(t *testing.T, backend Backend, c testCase) {
	t.Helper()
	for _, ability := range c.needs {
		if reason, lacking := backend.Lacks[ability]; lacking {
			t.Skipf("the backend lacks %q: %s", ability, reason)
		}
	}
	around := backend.Around
	if around == nil {
		around = func(t *testing.T, body func(t *testing.T)) { body(t) }
	}
	around(t, func(t *testing.T) { c.run(newEnv(t, backend, c.needs)) })
}

// namespaceOf makes a namespace of the name of a test, so that what a store holds can be traced.
func namespaceOf(tb testing.TB) string {
	words := strings.FieldsFunc(tb.Name(), func(r rune) bool { return r == '/' || r == '#' })
	return strings.ToLower(strings.Join(slices.Compact(words), "-"))
}
