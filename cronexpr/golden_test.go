package cronexpr_test

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the golden zones, on any machine

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

// The golden files were written by Quartz 2.3.2: testdata/quartz/generate.sh makes them again.

// goldenFires is how many fires follow each start in the golden files. They leave out those from
// the year 2100 on, where Quartz's years end some time that depends on the current one.
const goldenFires = 12

var goldenEnd = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// goldenCase is one line of a golden file: what Quartz fires after a start.
type goldenCase struct {
	expr  string
	start time.Time
	want  []time.Time
}

// TestQuartzTimes holds the Quartz dialect in Quartz mode to all that Quartz itself said.
func TestQuartzTimes(t *testing.T) {
	t.Parallel()
	lines := golden(t, "times.tsv.gz")
	require.Greater(t, len(lines), 5000)
	exact := 0
	for _, line := range lines {
		loc, err := time.LoadLocation(line[0])
		require.NoError(t, err)
		c := parseGolden(t, line[1], line[2], line[3], loc)
		s, err := cronexpr.Parse(c.expr,
			cronexpr.WithLocation(loc), cronexpr.WithDaylightSaving(cronexpr.Quartz))
		require.NoError(t, err)
		if got := c.fires(s, c.start); slices.EqualFunc(c.want, got, time.Time.Equal) {
			exact++
			continue
		}
		requireException(t, c, s)
	}
	require.Greater(t, exact, len(lines)*99/100, "the exceptions are rare")
	t.Logf("%d of %d exactly as Quartz, the others by a listed exception", exact, len(lines))
}

// requireException demands that c is one of the three cases in which Quartz loses times, and that only
// these are lost, or the one in which what it fires hangs on when it is asked.
func requireException(t *testing.T, c goldenCase, s cronexpr.Schedule) {
	t.Helper()
	if lap := firstPass(c.start); lap > 0 {
		// Asked from within the first pass of an overlap, Quartz goes on from the same reading of the
		// second pass, and so forgets what comes before it there.
		require.Equal(t, c.want, c.fires(s, c.start.Add(lap)), "%s after %s", c.expr, c.start)
		return
	}
	if strings.Contains(c.expr, "29W") || strings.Contains(c.expr, "30W") {
		// Asked from early in a year, Quartz may disagree with itself about the end of a February that is a day too short.
		inSuch := func(fire time.Time) bool {
			return fire.Month() == time.February && fire.Weekday() == time.Friday && fire.AddDate(0, 0, 1).Day() == 1 &&
				fire.Year() == c.start.Year() && c.start.Month() <= time.February
		}
		want, got := slices.DeleteFunc(slices.Clone(c.want), inSuch), slices.DeleteFunc(c.fires(s, c.start), inSuch)
		same := min(len(want), len(got))
		require.True(t, len(want) < len(c.want) || len(got) < goldenFires, "%s after %s", c.expr, c.start)
		require.Equal(t, want[:same], got[:same], "%s after %s", c.expr, c.start)
		return
	}
	// After a gap that is not an hour long, Quartz skips part of the hour that follows it, and after one that ends at
	// midnight the day.
	var got []time.Time
	for fire := range cronexpr.Upcoming(s, c.start) {
		if len(got) == len(c.want) {
			break
		}
		if (afterOddGap(fire) || afterMidnightGap(fire)) && !slices.ContainsFunc(c.want, fire.Equal) {
			continue
		}
		got = append(got, fire)
	}
	require.Equal(t, c.want, got, "%s after %s", c.expr, c.start)
}

// firstPass returns the length of the overlap if t is in its first pass, else 0.
func firstPass(t time.Time) time.Duration {
	_, end := t.ZoneBounds()
	lap := offset(t) - offset(end)
	if end.IsZero() || lap <= 0 || end.Sub(t) > lap {
		return 0
	}
	return lap
}

// afterOddGap reports whether t is in the first hour after a gap that is not an hour long.
func afterOddGap(t time.Time) bool {
	start, _ := t.ZoneBounds()
	gap := offset(t) - offset(start.Add(-1))
	return gap > 0 && gap != time.Hour && t.Sub(start) < time.Hour
}

// afterMidnightGap reports whether t is in the day after a gap that ends at midnight.
func afterMidnightGap(t time.Time) bool {
	start, _ := t.ZoneBounds()
	hour, minute, second := start.Clock()
	return offset(t) > offset(start.Add(-1)) && hour == 0 && minute == 0 && second == 0 && t.Sub(start) < 24*time.Hour
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func (c goldenCase) fires(s cronexpr.Schedule, after time.Time) []time.Time {
	var fires []time.Time
	for fire := range cronexpr.Upcoming(s, after) {
		if len(fires) == goldenFires || !fire.Before(goldenEnd) {
			break
		}
		fires = append(fires, fire)
	}
	return fires
}

func parseGolden(t *testing.T, expr, start, steps string, loc *time.Location) goldenCase {
	t.Helper()
	at := parseSeconds(t, start)
	c := goldenCase{expr: expr, start: time.Unix(at, 0).In(loc)}
	for step := range strings.FieldsSeq(steps) {
		at += parseSeconds(t, step)
		c.want = append(c.want, time.Unix(at, 0).In(loc))
	}
	return c
}

func parseSeconds(t *testing.T, text string) int64 {
	t.Helper()
	seconds, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return seconds
}

// golden returns the columns of each line of a golden file.
func golden(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "quartz", name))
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	var lines [][]string
	scanner := bufio.NewScanner(unzipped)
	for scanner.Scan() {
		lines = append(lines, strings.Split(scanner.Text(), "\t"))
	}
	require.NoError(t, scanner.Err())
	return lines
}
