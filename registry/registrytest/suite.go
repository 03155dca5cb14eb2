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

// steady tells whether nothing in the case ends sessions, or takes a part of their TTL.
func (c testCase) steady() bool {
	return !slices.ContainsFunc(c.needs, func(a Ability) bool {
		return a == Cut || a == Expire || a == Vanish || a == Restart || a == HoldBack
	})
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

// steady makes cases without a fault that ends sessions ask for sessions that last.
func steady(cases []testCase) []testCase {
	for i, c := range cases {
		if c.steady() {
			cases[i].needs = append(slices.Clone(c.needs), Steady)
		}
	}
	return cases
}

func themes() []theme {
	return []theme{
		{"Nodes", steady(nodeCases())},
		{"Namespaces", steady(namespaceCases())},
		{"Conditions", steady(conditionCases())},
		{"Transactions", steady(transactionCases())},
		{"Batches", steady(batchCases())},
		{"Turns", steady(turnCases())},
		{"Owners", steady(ownerCases())},
		{"Sessions", sessionCases()},
		{"Outages", outageCases()},
		{"Views", steady(viewCases())},
		{"Recovery", recoveryCases()},
		{"Latches", steady(latchCases())},
		{"Answers", steady(answerCases())},
		{"Space", spaceCases()},
		{"Closing", steady(closingCases())},
		{"Clock", clockCases()},
		{"Size", steady(sizeCases())},
		{"Random", steady(randomCases())},
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
