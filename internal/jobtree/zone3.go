package jobtree

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// offset3 is how Java writes an offset from GMT: GMT+8, GMT+08:00, GMT+0800.
var offset3 = regexp.MustCompile(`^GMT([+-])(\d{1,2})(?::?(\d{2}))?$`)

const zone3Form = "must be empty, GMT, or an offset that a zone keeps all year, such as GMT+08:00, which is Etc/GMT-8, or GMT+05:30, which is Asia/Kolkata: " +
	"ElasticJob 3.x takes no other zones than those whose names begin with GMT"

// broken3 are the zones that stand for offsets that are no whole number of hours: those that keep theirs all year. Some
// have others, too; these are the ones that people know.
var broken3 = map[string]string{
	"-09:30": "Pacific/Marquesas",
	"+03:30": "Asia/Tehran",
	"+04:30": "Asia/Kabul",
	"+05:30": "Asia/Kolkata",
	"+05:45": "Asia/Kathmandu",
	"+06:30": "Asia/Yangon",
	"+08:45": "Australia/Eucla",
	"+09:30": "Australia/Darwin",
}

// ZoneOfElasticJob3 returns the IANA name of a zone of ElasticJob 3.x, whose zones are offsets from GMT. Empty is empty.
// What Java would take for GMT because it cannot read it is not known.
func ZoneOfElasticJob3(zone string) (name string, known bool) {
	switch zone {
	case "":
		return "", true
	case "GMT", "GMT0":
		return "Etc/GMT", true
	}
	parts := offset3.FindStringSubmatch(zone)
	if parts == nil {
		return "", false
	}
	hours, _ := strconv.Atoi(parts[2])
	if minutes := parts[3]; minutes != "" && minutes != "00" {
		name, known := broken3[fmt.Sprintf("%s%02d:%s", parts[1], hours, minutes)]
		return name, known
	}
	switch {
	case hours == 0:
		return "Etc/GMT", true
	case parts[1] == "+" && hours <= 14:
		return fmt.Sprintf("Etc/GMT-%d", hours), true // these names count westwards
	case parts[1] == "-" && hours <= 12:
		return fmt.Sprintf("Etc/GMT+%d", hours), true
	default:
		return "", false
	}
}

// zoneTo3 is the other way round.
func zoneTo3(zone string) (string, bool) {
	switch zone {
	case "":
		return "", true
	case "Etc/GMT":
		return "GMT", true
	}
	for offset, name := range broken3 {
		if name == zone {
			return "GMT" + offset, true
		}
	}
	hours, found := strings.CutPrefix(zone, "Etc/GMT")
	n, err := strconv.Atoi(hours)
	if !found || err != nil || n < -14 || n > 12 || n == 0 {
		return "", false
	}
	sign := "-"
	if n < 0 {
		sign, n = "+", -n
	}
	written := fmt.Sprintf("GMT%s%02d:00", sign, n)
	back, _ := ZoneOfElasticJob3(written)
	return written, back == zone
}
