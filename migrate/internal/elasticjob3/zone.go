package elasticjob3

import (
	"fmt"
	"regexp"
	"strconv"
)

// offset is how Java writes a zone without a name: GMT+8, GMT+08:00 or GMT+0800.
var offset = regexp.MustCompile(`^GMT([+-])(\d{1,2})(?::?(\d{2}))?$`)

// zoneOf returns the IANA name of a time zone of Java. Names are left alone; offsets get the name of a
// zone that keeps this offset all year.
func zoneOf(zone string) (string, error) {
	parts := offset.FindStringSubmatch(zone)
	if parts == nil {
		return zone, nil
	}
	hours, _ := strconv.Atoi(parts[2])
	if parts[3] != "" && parts[3] != "00" {
		if name, ok := broken[fmt.Sprintf("%s%02d:%s", parts[1], hours, parts[3])]; ok {
			return name, nil
		}
		return "", noZone(zone)
	}
	switch {
	case hours == 0:
		return "Etc/GMT", nil
	case parts[1] == "+" && hours <= 14:
		return fmt.Sprintf("Etc/GMT-%d", hours), nil // these names count westwards
	case parts[1] == "-" && hours <= 12:
		return fmt.Sprintf("Etc/GMT+%d", hours), nil
	default:
		return "", noZone(zone)
	}
}

func noZone(zone string) error {
	return fmt.Errorf("timeZone is %q: no zone keeps this offset all year; name a zone instead, such as Europe/Berlin", zone)
}

// broken are zones whose offset is no whole number of hours, and is the same all year.
var broken = map[string]string{
	"-09:30": "Pacific/Marquesas",
	"+03:30": "Asia/Tehran",
	"+04:30": "Asia/Kabul",
	"+05:30": "Asia/Kolkata",
	"+05:45": "Asia/Kathmandu",
	"+06:30": "Asia/Yangon",
	"+08:45": "Australia/Eucla",
	"+09:30": "Australia/Darwin",
}
