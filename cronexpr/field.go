package cronexpr

// fieldSpec says what one field of a Quartz expression may hold.
type fieldSpec struct {
	name     string
	min, max int
	names    []string // names[i] stands for min+i
	wraps    bool     // a range may run over the end: 22-2, FRI-MON
	allowed  string
	below    string // what else there is to say of a number below min
}

const (
	firstYear = 1970
	lastYear  = 2099
)

var (
	secondSpec = fieldSpec{
		name: "second", min: 0, max: 59, wraps: true,
		allowed: "are 0-59, lists, ranges, steps and *",
	}
	minuteSpec = fieldSpec{
		name: "minute", min: 0, max: 59, wraps: true,
		allowed: "are 0-59, lists, ranges, steps and *",
	}
	hourSpec = fieldSpec{
		name: "hour", min: 0, max: 23, wraps: true,
		allowed: "are 0-23, lists, ranges, steps and *",
	}
	dayOfMonthSpec = fieldSpec{
		name: "day-of-month", min: 1, max: 31, wraps: true,
		allowed: "are 1-31, lists, ranges, steps, *, ?, L, L-n, LW, L-nW and nW",
	}
	monthSpec = fieldSpec{
		name: "month", min: 1, max: 12, wraps: true, names: monthNames,
		allowed: "are 1-12, JAN-DEC, lists, ranges, steps and *",
	}
	dayOfWeekSpec = fieldSpec{
		name: "day-of-week", min: 1, max: 7, wraps: true, names: dayNames,
		allowed: "are 1-7 (SUN=1), SUN-SAT, lists, ranges, steps, *, ?, L, nL and n#k",
		below:   ", with 6 or 7 fields Sunday is 1",
	}
	yearSpec = fieldSpec{
		name: "year", min: firstYear, max: lastYear,
		allowed: "are 1970-2099, lists, ranges, steps and *",
	}
)

var (
	monthNames = []string{
		"JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE",
		"JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER",
	}
	dayNames = []string{
		"SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY",
	}
)
