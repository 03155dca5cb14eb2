package javapeers

import (
	"fmt"
	"net/netip"

	"github.com/elasticron/elasticron/internal/javarules"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/option"
)

// CheckInstance tells what is wrong with the instance id of a process among Java instances.
func CheckInstance(id string) error {
	ip := jobtree.ServerOf(id)
	if address, err := netip.ParseAddr(ip); err != nil || !address.Is4() {
		return fmt.Errorf("%w: instance id %q: Java instances know servers by IPv4 addresses; set one with WithInstanceID, such as 10.0.0.1@-@4711-a",
			option.ErrInvalid, id)
	}
	if reason := javarules.PathFault(id); reason != "" {
		return fmt.Errorf("%w: instance id %q %s", option.ErrInvalid, id, reason)
	}
	return nil
}

// CheckApart tells what is wrong with the instance id of a process whose jobs Java instances may share:
// ids of their form are how they are known.
func CheckApart(id string) error {
	if !jobtree.JavaInstance(id) {
		return nil
	}
	return fmt.Errorf("%w: instance id %q: an IPv4 address and a number are the id of a Java instance; set one with WithInstanceID that has more than digits after \"@-@\", such as %s-a",
		option.ErrInvalid, id, id)
}
