package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// table is what the page shows of a scenario.
type table struct {
	title, about string
	head         []string
	rows         [][]string
}

// table makes the table of the results of all contenders, in their order.
func (s scenario) table(results []result) table {
	t := table{title: s.name, about: s.about}
	if s.kill {
		t.head = []string{"", "runs again after, median", "to Elasticron's", "most"}
		ours := middle(results[0].recovered)
		for n, c := range contenders() {
			if r := results[n].recovered; len(r) > 0 {
				t.rows = append(t.rows, []string{c.name, seconds(middle(r)), ratio(middle(r), ours), seconds(r[len(r)-1])})
			}
		}
		return t
	}
	t.head = []string{"", "late, p50", "to Elasticron's", "late, p99", "twice", "never", "CPU of processes", "CPU of the store"}
	for n, c := range contenders() {
		r, ours := results[n], results[0]
		t.rows = append(t.rows, []string{
			c.name,
			milliseconds(r.percentile(50)), ratio(r.percentile(50), ours.percentile(50)), milliseconds(r.percentile(99)),
			fmt.Sprintf("%d of %d", r.Doubles, r.Due), fmt.Sprintf("%d of %d", r.Lost, r.Due),
			each(r.processes, r.Due), each(r.store, r.Due),
		})
	}
	return t
}

func middle(sorted []time.Duration) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)/2]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// each is the processor time of one execution that was due.
func each(d time.Duration, due int) string {
	if due == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(due)/float64(time.Millisecond))
}

func ratio(d, ours time.Duration) string {
	if ours == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f x", float64(d)/float64(ours))
}

// String is the table as the page has it.
func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s\n\n", t.title, t.about)
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(t.head)
	row(strings.Split(strings.Repeat("---,", len(t.head)-1)+"---", ","))
	for _, cells := range t.rows {
		row(cells)
	}
	return b.String()
}

// The marks of the page between which the tables are.
const (
	tablesBegin = "<!-- figures: make bench-peers writes what follows -->\n"
	tablesEnd   = "<!-- end of figures -->\n"
)

// replaceTables puts the tables into a page in place of those that it has.
func replaceTables(file string, tables []table) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), tablesBegin)
	_, after, ends := strings.Cut(rest, tablesEnd)
	if !found || !ends {
		return fmt.Errorf("%s has no lines %q and %q between which the tables would go", file, tablesBegin, tablesEnd)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\nMeasured on %s, with %s.\n", before, tablesBegin, time.Now().UTC().Format(time.DateOnly), machine())
	for _, t := range tables {
		fmt.Fprintf(&b, "\n%s", t)
	}
	fmt.Fprintf(&b, "\n%s%s", tablesEnd, after)
	return os.WriteFile(file, []byte(b.String()), 0o644) //nolint:gosec // a page that everybody may read
}

// machine says on what was measured.
func machine() string {
	model := "unknown processors"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d processors (%s), %s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.Version())
}

func TestTablesAreReplaced(t *testing.T) {
	t.Parallel()
	s := scenario{name: "Steady", about: "Some jobs.", work: work{Jobs: 1, Items: 1, Every: time.Second}}
	results := make([]result, len(contenders()))
	results[0].verdict = verdict{Due: 2, Late: []time.Duration{time.Millisecond, time.Millisecond}}
	results[1].verdict = verdict{Due: 2, Late: []time.Duration{2500 * time.Microsecond}, Lost: 1, Doubles: 1}
	results[1].processes = 3 * time.Millisecond
	file := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(file, []byte("# Page\n"+tablesBegin+"old\n"+tablesEnd+"more\n"), 0o600))

	require.NoError(t, replaceTables(file, []table{s.table(results)}))
	require.NoError(t, replaceTables(file, []table{s.table(results)}), "a second time")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Regexp(t, `(?s)^# Page\n.*\n### Steady\n\nSome jobs.\n.*more\n$`, string(text))
	require.Contains(t, string(text), "\n| Elasticron on ZooKeeper | 2.5 ms | 2.50 x | 2.5 ms | 1 of 2 | 1 of 2 | 1.50 ms | 0.00 ms |\n")
	require.NotContains(t, string(text), "old")

	require.NoError(t, os.WriteFile(file, []byte("# Page\n"), 0o600))
	require.ErrorContains(t, replaceTables(file, nil), "has no lines")
}
