package main

import (
	"regexp"
	"strconv"
	"strings"
)

// result is what one benchmark came to.
type result struct {
	name    string // without "Benchmark" and the number of processors
	figures []figure
}

type figure struct {
	value float64
	unit  string
}

var processors = regexp.MustCompile(`-\d+$`)

// parseResult reads a line such as "BenchmarkNext-2  1000  1234 ns/op  0 B/op". It answers false for
// any other line.
func parseResult(line string) (result, bool) {
	name, isBenchmark := strings.CutPrefix(line, "Benchmark")
	fields := strings.Fields(name)
	if !isBenchmark || len(fields) < 4 || len(fields)%2 != 0 {
		return result{}, false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return result{}, false
	}
	r := result{name: processors.ReplaceAllString(fields[0], "")}
	for i := 2; i < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return result{}, false
		}
		r.figures = append(r.figures, figure{value, fields[i+1]})
	}
	return r, true
}

// take removes the figure with a unit, and tells whether there is one.
func (r *result) take(unit string) (figure, bool) {
	for i, f := range r.figures {
		if f.unit == unit {
			r.figures = append(r.figures[:i:i], r.figures[i+1:]...)
			return f, true
		}
	}
	return figure{}, false
}
