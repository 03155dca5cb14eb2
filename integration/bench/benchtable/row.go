package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// row is one line of the table.
type row struct{ figure, unit, what string }

// rows turns a benchmark's figures into lines: time and memory of an operation share the first. Memory
// without time is left out, because go test adds it also where an operation is no measure of anything.
func (r result) rows() []row {
	var rows []row
	bytes, _ := r.take("B/op")
	allocs, _ := r.take("allocs/op")
	if t, ok := r.take("ns/op"); ok {
		value, unit := scaled(t.value)
		what := fmt.Sprintf("an operation, %.0f B in %.0f allocations", bytes.value, allocs.value)
		rows = append(rows, row{digits(value), unit, what})
	}
	for _, f := range r.figures {
		unit, what := f.split()
		rows = append(rows, row{digits(f.value), unit, what})
	}
	return rows
}

// scaled returns nanoseconds in the unit in which they read best.
func scaled(ns float64) (float64, string) {
	units := []string{"ns", "µs", "ms"}
	for _, unit := range units {
		if ns < 1000 {
			return ns, unit
		}
		ns /= 1000
	}
	return ns, "s"
}

// endings are the units that the name of a figure may end in.
var endings = []string{"ms", "x"}

// split takes a name such as "late-p99-ms" apart. What ends otherwise is a unit by itself.
func (f figure) split() (unit, what string) {
	i := strings.LastIndexByte(f.unit, '-')
	if i < 0 || !slices.Contains(endings, f.unit[i+1:]) {
		return f.unit, ""
	}
	return f.unit[i+1:], strings.ReplaceAll(f.unit[:i], "-", " ")
}

// digits writes a figure with about three digits, and never with an exponent.
func digits(v float64) string {
	size := max(v, -v)
	switch {
	case size >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}
