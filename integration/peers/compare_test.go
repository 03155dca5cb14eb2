package main

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	rounds = flag.Int("peers.rounds", 3, "how often each contender goes through each scenario")
	page   = flag.String("peers.page", "", "the page whose tables are replaced; none if empty")
)

// TestCompare has all contenders go through all scenarios, in turn, and writes down what became of it. What must hold on
// any machine is asserted: Elasticron ran no fire twice, and all libraries ran.
func TestCompare(t *testing.T) {
	if *page == "" && !testing.Short() {
		t.Skip("a comparison takes half an hour of a quiet machine: make bench-peers, or -short")
	}
	times := *rounds
	if testing.Short() {
		times = 1
	}
	var tables []table
	for _, s := range scenarios(testing.Short()) {
		results := make([]result, len(contenders()))
		for range times {
			for n, c := range contenders() {
				if s.kill && (c.store == nil || testing.Short() && c.kind != kindElasticron) {
					continue // nobody takes over; and others take a minute
				}
				results[n] = results[n].and(s.play(t, c))
			}
		}
		if !s.kill {
			require.Zero(t, results[0].Doubles+results[1].Doubles, "%s: Elasticron ran fires twice", s.name)
			for n, c := range contenders() {
				require.NotEmpty(t, results[n].Late, "%s: %s ran nothing", s.name, c.name)
			}
		}
		tables = append(tables, s.table(results))
	}
	for _, table := range tables {
		t.Logf("\n%s", table)
	}
	if *page != "" {
		require.NoError(t, replaceTables(*page, tables))
	}
}
