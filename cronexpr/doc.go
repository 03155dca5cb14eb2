// Package cronexpr parses cron expressions and computes their next times. It is pure: a schedule is a
// function from one time to the next. It has no clock and no goroutine, and uses only the time zone that the
// caller names.
//
//	berlin, err := time.LoadLocation("Europe/Berlin")
//	s, err := cronexpr.Parse("0 30 2 ? * MON-FRI", cronexpr.WithLocation(berlin))
//	next := s.Next(time.Now())
//
// # Dialects
//
// The shape of the text tells the dialect:
//
//	shape               dialect       fields
//	5 fields            Unix cron     minute hour day-of-month month day-of-week, SUN=0
//	6 or 7 fields       Quartz        second minute hour day-of-month month day-of-week [year], SUN=1
//	@hourly and others  Unix cron     @yearly @annually @monthly @weekly @daily @midnight @hourly
//	@every <duration>   fixed period  whole multiples of the duration since the Unix epoch
//	@delay <duration>   fixed delay   the duration after the end of the last run, see below
//	@triggered          none          no fires: it runs when somebody triggers it
//
// Note that a number means different weekdays in the two dialects; a name means the same weekday.
//
// Unix cron has the grammar of github.com/robfig/cron/v3, which also parses it here: *, lists,
// ranges, steps, three-letter names, and ? for * in the day fields. If both day fields are given, a
// day needs to match only one. [Parse] refuses a time zone in the text (CRON_TZ=): use [WithLocation].
//
// Durations are those of [time.ParseDuration], from 1ms up. Multiples count from the epoch, so
// "@every 90s" fires at the same instants in every process. [WithOffset] moves these instants.
//
// "@delay 10s" fires some time after the end of the last run, which a function of time does not
// know. Its Next is always zero, and package scheduler counts from the ends of runs; see [DelayOf].
//
// [WithStart] and [WithEnd] bound the fires of any dialect.
//
// # The Quartz dialect
//
// It agrees with Quartz 2.3.2. Tests check this against golden files that Quartz itself wrote:
//
//	text               meaning
//	*  a  a-b  a,b     any, one, a range, a list; ranges may wrap around: FRI-MON, 22-2
//	*/n  /n  a/n       every n-th from the smallest or from a; a step past the end is legal
//	a-b/n              every n-th of the range
//	JAN-DEC  SUN-SAT   names, in upper or lower case
//	?                  this day field does not matter; exactly one of the two day fields has it
//	L  L-n             day-of-month: the last day; n days before it
//	nW  LW  L-nW       day-of-month: the working day nearest to it, in the same month
//	L                  day-of-week: Saturday
//	nL  n#k            day-of-week: the last n of the month; the k-th
//	year               1970-2099
//
// Quartz accepts many texts and then silently ignores a part of the text, or never fires. Here, such a
// text is an error: empty elements in lists (1,,2), steps of 0, a step after names
// (MON-FRI/2), text behind an element (5X, *5, ?5, 1-5W, MONDAY-FRIDAY), L, W or # in lists
// (1W,15W), L and L-n in fields where they mean nothing, 0W, weekdays beyond 7 before #, 99 for *,
// ranges of days, months or weekdays that end at 0, negative steps, more than seven fields, and years
// outside 1970 to 2099.
// Two things work here that do not work in Quartz. With L-28W and beyond, Quartz loops for ever once it comes
// to a month that is too short. Without a year field, Quartz stops a hundred years from now.
//
// Older versions of Quartz, such as the 2.2.1 that comes with Elastic-Job-Lite, accept a number with a step that
// reaches past the field, as in 0/60 or 1/24, and take it as the number alone. From 2.3 on, Quartz refuses
// such a step, and so does this package: write 0 for 0/60.
//
// In a month that has no day n, nW does not fire, with one exception, which Quartz makes: if the month ends
// on a Friday, and day n would be the Saturday after it, nW may fire on that Friday. 31W does so in April 2021.
// In such a February, 29W and 30W do so only if January is not among the months. This is what Quartz does that comes
// from the fires before; asked from a time within such a February, or from the last days of a January without fires, it
// may say otherwise. Here, the expression alone decides, so that all processes of a job agree.
//
// # Clock changes
//
// When the clock is moved forward, there is a gap: readings that never come. When it is moved back, there is
// an overlap: readings that come twice. [DaylightSaving] says what a job does then.
//
// By default, which is [Natural], this depends on the hours of the job. An hour is ticking if the job also fires
// in the hour before or in the hour after it. All hours of *, 9-17 and 22-3 are ticking; 23 and 0 are
// neighbours. All other hours are fixed, such as those of 2, of 8,12,18 and of */2.
//
//	hour     in a gap                                       in an overlap
//	fixed    once, when the gap ends, however many of its   the first pass only
//	         times the gap left out
//	ticking  moved by the length of the gap, so that it     both passes
//	         comes when it would have in real time; a fire
//	         that stands there anyway is the same fire
//
// Here are examples, for a gap from 02:00 to 03:00 and an overlap from 02:00 back to 01:00:
//
//	expression         means                in the gap      in the overlap
//	0 30 2 * * ?       once a day           03:00           02:30
//	0 30 1 * * ?       once a day           01:30           01:30, once
//	0 0/20 2 * * ?     thrice in an hour    03:00, once     02:00 02:20 02:40
//	0 0/20 1 * * ?     thrice in an hour    unchanged       01:00 01:20 01:40, once each
//	0 0 */2 * * ?      every other hour     00:00 03:00     00:00 02:00
//	0 30 2,9-17 * * ?  two different jobs   03:00 09:30     02:30 09:30
//	0 0/5 * * * ?      every five minutes   ... 01:55 03:00 both passes, every five minutes
//	0 30 * * * ?       every hour           01:30 03:30     00:30 01:30 01:30 02:30
//	0 30 1-2 * * ?     twice, an hour apart 01:30 03:30     01:30 01:30 02:30
//
// So a ticking job is never silent for longer than usual, except where a clock is moved by less than
// the hour between two ticks: on Lord Howe Island, by half an hour, an hourly job pauses for 90
// minutes in the overlap.
//
// With [Quartz], nothing fires in a gap, and an overlap has only the fires of its second pass, so every job
// pauses for an hour. Quartz itself loses further times, which this package keeps:
//
//   - after a gap that is not an hour long, some times in the first hour;
//   - after a gap that ends at midnight, as in Dhaka in 2009, all times of the day;
//   - if asked from a time within the first pass of an overlap, the times of the second pass up to the same
//     reading of the clock.
//
// # What it does not do
//
// It runs nothing and waits for nothing. It knows no holidays and no leap seconds, and finds no fire
// beyond the year 9999.
package cronexpr
