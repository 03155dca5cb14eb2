package words

import "fmt"

// mostTimes bounds how many times of a day are listed one by one.
const mostTimes = 6

// clock says at which times of a day.
func clock(second, minute, hour values) string {
	if text := times(second, minute, hour); text != "" {
		return text
	}
	if second.zero() && minute.zero() {
		return onTheHour(hour)
	}
	if second.zero() {
		return ofMinutes(minute, hour)
	}
	text := ""
	n, every := second.every()
	switch {
	case second.any():
		text = "Every second"
	case every:
		text = often(n, 60, second.unit.name)
	default:
		text = "At " + second.counted()
	}
	switch {
	case minute.any() && (second.any() || every):
	case minute.any():
		text += " of every minute"
	default:
		text += " " + inThose(minute)
	}
	return text + inHours(hour)
}

// times lists single times; empty if they are too many or do not end.
func times(second, minute, hour values) string {
	ss, okS := second.only()
	mm, okM := minute.only()
	hh, okH := hour.only()
	if !okS || !okM || !okH || len(ss)*len(mm)*len(hh) > mostTimes {
		return ""
	}
	var all []string
	for _, h := range hh {
		for _, m := range mm {
			for _, s := range ss {
				text := fmt.Sprintf("%02d:%02d", h, m)
				if !second.zero() {
					text += fmt.Sprintf(":%02d", s)
				}
				all = append(all, text)
			}
		}
	}
	return "At " + joined(all)
}

// often says every n units. Where they do not fit into the next larger unit, they begin anew with each of it.
func often(n, whole int, name string) string {
	text := fmt.Sprintf("Every %d %ss", n, name)
	if whole%n == 0 {
		return text
	}
	return fmt.Sprintf("Every %s %s from 0 on", ordinal(n), name)
}

func onTheHour(hour values) string {
	if n, is := hour.every(); is {
		return often(n, 24, hour.unit.name)
	}
	if hour.any() {
		return "Every hour"
	}
	if _, is := hour.stepped(); is {
		return "On the hour" + inHours(hour)
	}
	return "Every hour" + inHours(hour)
}

func ofMinutes(minute, hour values) string {
	if n, is := minute.every(); is {
		return often(n, 60, minute.unit.name) + inHours(hour)
	}
	if minute.any() {
		return "Every minute" + inHours(hour)
	}
	text := "At " + minute.counted()
	if hour.any() {
		return text + " of every hour"
	}
	return text + inHours(hour)
}

func inHours(hour values) string {
	if hour.any() {
		return ""
	}
	return " " + inThose(hour)
}

// inThose says in which minutes or hours.
func inThose(v values) string {
	if _, is := v.every(); is {
		return v.in("", "in every %s "+v.unit.name)
	}
	return "in " + v.counted()
}
