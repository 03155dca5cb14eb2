package cronexpr_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

// nearMissStart is where the generator asked for the fires of what Quartz accepted.
const nearMissStart = "1709164799"

// stricter lists what Quartz accepts and this package refuses, each time because Quartz silently
// fires at other times than the text says. The pattern tells it from the refused field, in upper case.
var stricter = []struct {
	name    string
	fields  string // their indexes
	pattern *regexp.Regexp
}{
	{"an empty element is skipped", "0123456", regexp.MustCompile(`^,|,,|,$`)},
	{"a step of 0 is no step", "0123456", regexp.MustCompile(`/0+(,|$)`)},
	{"what follows a star is ignored", "0123456", regexp.MustCompile(`(^|,)\*[^/,]`)},
	{"what follows ? is ignored, and ? in a list makes the field unspecified", "35", regexp.MustCompile(`\?.|.\?`)},
	{"what follows a number is ignored", "0123456", regexp.MustCompile(`(^|,|-)\d+[^-/,0-9LW#]`)},
	{"L, W and letters after a range are ignored", "0123456", regexp.MustCompile(`\d-\d+[^/,0-9]`)},
	{"what follows a step is ignored", "0123456", regexp.MustCompile(`/\d+[^,0-9]`)},
	{"what follows a name is ignored", "45", regexp.MustCompile(`[A-Z]{3}[^,-]`)},
	{"L in another field than the days matches nothing", "01246", regexp.MustCompile(`(^|,)L`)},
	{"L-n as a day-of-week is L", "5", regexp.MustCompile(`^L.`)},
	{"W and # in a list hold for its first day only", "35", regexp.MustCompile(`,.*[W#]|[W#].*,`)},
	{"days above 7 before # never come", "5", regexp.MustCompile(`^([089]|\d\d+)#`)},
	{"0W loops", "3", regexp.MustCompile(`^0+W`)},
	{"what follows L or W is ignored", "35", regexp.MustCompile(`\d[LW].|^L.*W.`)},
	{"99 is Quartz's own mark of a star", "012345", regexp.MustCompile(`(^|,)0*99`)},
	{"the end of a range may be 0", "345", regexp.MustCompile(`-0+(,|/|$)`)},
	{"a step may be negative", "0123456", regexp.MustCompile(`^/-`)},
	{"L-W is LW", "3", regexp.MustCompile(`^L-W$`)},
	{"years are not checked", "6", regexp.MustCompile(`(^|[,-])0*(\d{1,3}|1[0-8]\d\d|19[0-6]\d|2[1-9]\d\d|[3-9]\d{3}|[1-9]\d{4,})([,/-]|$)`)},
}

// TestQuartzNearMisses holds the parser to Quartz on texts around the border of the grammar: it
// accepts nothing that Quartz rejects, refuses only what is listed, and reads the rest as Quartz does.
func TestQuartzNearMisses(t *testing.T) {
	t.Parallel()
	accepted, used := 0, map[string]int{}
	for _, line := range golden(t, "nearmisses.tsv.gz") {
		expr, verdict := line[0], line[1]
		fields := strings.Fields(strings.ToUpper(expr))
		if len(fields) < 6 {
			continue // another dialect, or none
		}
		s, err := cronexpr.Parse(expr)
		if err == nil {
			require.Equal(t, "accept", verdict, "%q", expr)
			c := parseGolden(t, expr, nearMissStart, line[2], time.UTC)
			require.Equal(t, c.want, c.fires(s, c.start), "%q", expr)
			accepted++
			continue
		}
		var syntax *cronexpr.SyntaxError
		require.ErrorAs(t, err, &syntax)
		if verdict != "reject" {
			name := deviation(fields, syntax.Index)
			require.NotEmpty(t, name, "Quartz accepts %q, but: %v", expr, err)
			used[name]++
		}
	}
	for _, s := range stricter {
		require.Positive(t, used[s.name], "%q is used by no case", s.name)
	}
	require.Greater(t, accepted, 1000)
	t.Logf("%d accepted alike, refused by us alone: %v", accepted, used)
}

// deviation names the listed deviation that the refused field shows.
func deviation(fields []string, index int) string {
	if len(fields) > 7 {
		return "more than 7 fields"
	}
	for _, s := range stricter {
		if strings.ContainsRune(s.fields, rune('0'+index)) && s.pattern.MatchString(fields[index]) {
			return s.name
		}
	}
	return ""
}
