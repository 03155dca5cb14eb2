package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// assignment describes who holds which items: "w1* 0 3 6 | w2 1 4 7 | w3 2 5", the leader with a
// star, in the order in which the instances joined.
func assignment(p picture, name func(string) string) string {
	var parts []string
	for _, id := range byJoining(p.instances) {
		mark := ""
		if id == p.leader {
			mark = "*"
		}
		items := joined(p.held(id), " ")
		if items == "" {
			items = "-"
		}
		parts = append(parts, name(id)+mark+" "+items)
	}
	return strings.Join(parts, " | ")
}

// byJoining returns the instances, those that joined first in front.
func byJoining(instances map[string]registry.Revision) []string {
	return slices.SortedFunc(maps.Keys(instances), func(a, b string) int {
		if d := int(instances[a] - instances[b]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}

// moves describes which items changed hands, "items 0,3 from w1 to w2; item 6 from w1 to w3". Items
// that nobody held before, or that nobody holds now, have not moved.
func moves(before, after picture, name func(string) string) string {
	type way struct{ from, to string }
	moved := make(map[way][]int)
	var order []way
	for item, to := range after.owners {
		if item >= len(before.owners) {
			break
		}
		from := before.owners[item]
		if from == to || from == "" || to == "" {
			continue
		}
		w := way{from, to}
		if moved[w] == nil {
			order = append(order, w)
		}
		moved[w] = append(moved[w], item)
	}
	parts := make([]string, len(order))
	for i, w := range order {
		parts[i] = fmt.Sprintf("%s from %s to %s", listed(moved[w]), name(w.from), name(w.to))
	}
	return strings.Join(parts, "; ")
}
