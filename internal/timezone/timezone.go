// Package timezone loads time zones by names that mean the same on every host.
package timezone

import (
	"errors"
	"path"
	"strings"
	"time"
)

// Wanted says which names are allowed, beside the empty one.
const Wanted = "an IANA name that is known here and means the same on every host, such as Europe/Berlin"

// errHosts is why a name is refused under which a host keeps what is its own.
var errHosts = errors.New("what it means is up to the host")

// Load returns the zone of an IANA name; empty is UTC.
//
// [time.LoadLocation] knows more names. Local, localtime and posixrules are the zone of the host, or whichever one its
// distribution has chosen; by right/Europe/Berlin and its like, which few hosts have, every time is half a minute earlier, as
// they count leap seconds; and ./localtime is a path to the same.
func Load(name string) (*time.Location, error) {
	switch {
	case strings.EqualFold(name, "Local"), strings.EqualFold(name, "localtime"), strings.EqualFold(name, "posixrules"),
		strings.HasPrefix(name, "right/"), name != "" && path.Clean(name) != name:
		return nil, errHosts
	}
	return time.LoadLocation(name)
}
