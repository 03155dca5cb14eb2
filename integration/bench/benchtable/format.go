package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// table writes the lines of one run.
type table struct {
	out     io.Writer
	machine string // as announced; announced once
	pkg     string // whose results come next; empty once announced
	err     error  // of the first write that was refused
}

// formalities are lines of go test that say nothing here.
var formalities = regexp.MustCompile(`^(goos: |goarch: |PASS$|ok  \t|\?   \t|testing: warning: no tests to run$)`)

// format writes what it reads as a table, each benchmark when it comes.
func format(out io.Writer, in io.Reader) error {
	t := &table{out: out}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		t.line(lines.Text())
	}
	if t.err != nil {
		return t.err
	}
	return lines.Err()
}

func (t *table) line(line string) {
	if cpu, ok := strings.CutPrefix(line, "cpu: "); ok {
		t.announce(cpu)
		return
	}
	if pkg, ok := strings.CutPrefix(line, "pkg: "); ok {
		t.pkg = pkg
		return
	}
	if r, ok := parseResult(line); ok {
		t.result(r)
		return
	}
	if !formalities.MatchString(line) {
		t.printf("%s\n", line)
	}
}

func (t *table) announce(machine string) {
	if t.machine == "" {
		t.machine = machine
		t.printf("on %s\n", machine)
	}
}

func (t *table) result(r result) {
	if t.pkg != "" {
		t.printf("\n%s\n", t.pkg)
		t.pkg = ""
	}
	name := r.name
	for _, row := range r.rows() {
		line := fmt.Sprintf("  %-58s %10s %s", name, row.figure, row.unit)
		if row.what != "" {
			line += " " + row.what
		}
		t.printf("%s\n", line)
		name = "" // once is enough
	}
}

func (t *table) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format, args...)
	}
}
