package cronexpr_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
)

func Example() {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	schedule, err := cronexpr.Parse("0 30 9 ? * MON-FRI", cronexpr.WithLocation(berlin))
	if err != nil {
		fmt.Println(err)
		return
	}
	friday := time.Date(2024, time.May, 3, 12, 0, 0, 0, berlin)
	fmt.Println(schedule.Next(friday))
	// Output: 2024-05-06 09:30:00 +0200 CEST
}

// The shape of the text tells the dialect. Numbers mean other weekdays in each: 5 is a Friday to Unix
// cron and a Thursday to Quartz.
func ExampleParse_dialects() {
	after := time.Date(2024, time.May, 1, 0, 0, 0, 0, time.UTC)
	for _, expr := range []string{"0 12 * * 5", "0 0 12 ? * 5", "0 0 12 LW * ? 2025", "@weekly", "@every 36h"} {
		schedule, err := cronexpr.Parse(expr)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%-18s  %s\n", schedule, schedule.Next(after).Format("Mon 2006-01-02 15:04"))
	}
	// Output:
	// 0 12 * * 5          Fri 2024-05-03 12:00
	// 0 0 12 ? * 5        Thu 2024-05-02 12:00
	// 0 0 12 LW * ? 2025  Fri 2025-01-31 12:00
	// @weekly             Sun 2024-05-05 00:00
	// @every 36h          Thu 2024-05-02 00:00
}

func ExampleSyntaxError() {
	_, err := cronexpr.Parse("0 61 * * * ?")
	fmt.Println(err)
	var syntax *cronexpr.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Println(syntax.Field, syntax.Index)
	}
	// Output:
	// cron "0 61 * * * ?": minute field "61": 61 is above 59; allowed are 0-59, lists, ranges, steps and *
	// minute 1
}

// On the night when New York's clocks go from 02:00 to 03:00.
func ExampleWithDaylightSaving() {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		fmt.Println(err)
		return
	}
	midnight := time.Date(2024, time.March, 10, 0, 0, 0, 0, newYork)
	for _, mode := range []cronexpr.DaylightSaving{cronexpr.Natural, cronexpr.Quartz} {
		schedule, err := cronexpr.Parse("0 30 2 * * ?",
			cronexpr.WithLocation(newYork), cronexpr.WithDaylightSaving(mode))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(mode, schedule.Next(midnight).Format("2 Jan 15:04 MST"))
	}
	// Output:
	// natural 10 Mar 03:00 EDT
	// quartz 11 Mar 02:30 EDT
}

func ExampleUpcoming() {
	schedule, err := cronexpr.Parse("0 0 8-18/5 ? * 2#1")
	if err != nil {
		fmt.Println(err)
		return
	}
	shown := 0
	for fire := range cronexpr.Upcoming(schedule, time.Date(2024, time.May, 1, 0, 0, 0, 0, time.UTC)) {
		fmt.Println(fire.Format("Mon 2006-01-02 15:04"))
		if shown++; shown == 4 {
			break
		}
	}
	// Output:
	// Mon 2024-05-06 08:00
	// Mon 2024-05-06 13:00
	// Mon 2024-05-06 18:00
	// Mon 2024-06-03 08:00
}

// A process that was away for a year asks for the one fire that stands for all that it missed.
func ExampleLast() {
	schedule, err := cronexpr.Parse("0/10 * * * * ?")
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2024, time.May, 1, 12, 0, 7, 0, time.UTC)
	fmt.Println(cronexpr.Last(schedule, now.AddDate(-1, 0, 0), now))
	// Output: 2024-05-01 12:00:00 +0000 UTC
}

// The fires of a day, for example to draw a calendar.
func ExampleBetween() {
	schedule, err := cronexpr.Parse("0 0 9,13,17 ? * MON-FRI")
	if err != nil {
		fmt.Println(err)
		return
	}
	day := time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC)
	for fire := range cronexpr.Between(schedule, day, day.AddDate(0, 0, 1)) {
		fmt.Println(fire.Format(time.TimeOnly))
	}
	// Output:
	// 09:00:00
	// 13:00:00
	// 17:00:00
}

// A schedule that begins in March, ends in the evening of its first day, and fires every eight hours, twenty seconds past the
// hour.
func ExampleWithStart() {
	begin := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
	schedule, err := cronexpr.Parse("@every 8h", cronexpr.WithOffset(20*time.Second),
		cronexpr.WithStart(begin), cronexpr.WithEnd(begin.Add(18*time.Hour)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for fire := range cronexpr.Upcoming(schedule, time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)) {
		fmt.Println(fire.Format(time.DateTime))
	}
	// Output:
	// 2026-03-01 00:00:20
	// 2026-03-01 08:00:20
	// 2026-03-01 16:00:20
}

// Schedules that no clock can tell, and one that never fires.
func ExampleDelayOf() {
	for _, expr := range []string{"@delay 10s", "@triggered", "0 0 0 30 2 ?"} {
		schedule, err := cronexpr.Parse(expr)
		if err != nil {
			fmt.Println(err)
			continue
		}
		delay, is := cronexpr.DelayOf(schedule)
		now := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
		fmt.Println(expr, "delay:", is, delay, "triggered:", cronexpr.IsTriggered(schedule), "never fires:", cronexpr.NeverAfter(schedule, now))
	}
	// Output:
	// @delay 10s delay: true 10s triggered: false never fires: true
	// @triggered delay: false 0s triggered: true never fires: true
	// 0 0 0 30 2 ? delay: false 0s triggered: false never fires: true
}
