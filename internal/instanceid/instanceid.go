// Package instanceid makes the ids under which processes take part in jobs, if they are given none.
package instanceid

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// New returns "<ip>@-@<pid>-<random>". Containers may share an address and a pid of 1, so
// the random part is what keeps instances apart; the rest is for people.
func New() string {
	process := fmt.Sprintf("%d-%s", os.Getpid(), strings.ToLower(rand.Text()[:8]))
	return jobtree.InstanceID{IP: hostIP(), Process: process}.String()
}

// hostIP returns the host's first address that others can reach, preferring IPv4, as Java peers
// expect it; 127.0.0.1 on a host without a network.
func hostIP() string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "127.0.0.1"
	}
	best := netip.Addr{}
	for _, a := range addresses {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || !prefix.Addr().IsGlobalUnicast() {
			continue
		}
		if ip := prefix.Addr().Unmap(); !best.IsValid() || ip.Is4() && !best.Is4() {
			best = ip
		}
	}
	if !best.IsValid() {
		return "127.0.0.1"
	}
	return best.String()
}
