package elasticjob3

import (
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// zoneOf returns the IANA name of a time zone of Java. Names are left alone; offsets get the name of a
// zone that keeps this offset all year.
func zoneOf(zone string) (string, error) {
	if !strings.HasPrefix(zone, "GMT") {
		return zone, nil
	}
	name, known := jobtree.ZoneOfElasticJob3(zone)
	if !known {
		return "", fmt.Errorf("timeZone is %q: no zone keeps this offset all year; name a zone instead, such as Europe/Berlin", zone)
	}
	return name, nil
}
