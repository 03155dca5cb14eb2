package cronexpr

import "math/bits"

// Quartz has nW fire in a month that has no day n if it ends on a Friday and n would be the Saturday
// after it: 31W on Friday, 30 April 2021. But it only does so if it comes to the month by the days
// before, or because the month field leaves out the month before. From a working day earlier in the month
// before, it looks for day n of the next month, and that is in the month after it. So 29W fires on
// 28 February 2025 in a process of Quartz that started in February, and not in one that comes from the fire of
// 29 January. We go by the latter whoever asks, since that is what a process does that runs for long: a fire
// that hung on when it is asked for would be one for some processes of a job and none for others.

// passesOver tells whether Quartz passes over a month though its days have a match, on its way from the fire of the
// month before.
func (c *calendar) passesOver(year, number int, m month) bool {
	if c.days.kind != nearestWeekday || int(c.days.n) != m.length+1 || c.months>>(number-1)&1 == 0 {
		return false
	}
	before := monthOf(year, number-1) // not of another year: January has all days
	return bits.Len32(c.days.in(before))-1 < before.length
}
