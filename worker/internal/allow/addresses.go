package allow

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Addresses is a list of what may be called. It is immutable.
type Addresses struct {
	all      bool
	entries  []entry
	networks []netip.Prefix
}

// entry is one address of a list.
type entry struct {
	text               string
	scheme, host, port string // host may be "*.suffix", port "*"
}

// NewAddresses makes a list of entries such as "https://*.shop.internal" or "http://10.0.0.7:8080". "*." stands for
// one or more labels, the port "*" for all ports; without a port, it is that of the scheme. The single word "*" allows
// every address of http and https. An empty list is an error, as nobody means it.
//
// A name may lead to any address of the networks or, if there are none, to any but loopback, link-local, multicast and
// unspecified ones and a few of clouds, at which only this machine or its cloud listens. An entry that names such an
// address, or localhost, allows it.
func NewAddresses(entries []string, networks []netip.Prefix) (Addresses, error) {
	a := Addresses{networks: slices.Clone(networks)}
	if len(entries) == 0 {
		return a, errors.New(`the list is missing: want entries such as https://*.shop.internal, or "*" for everything`)
	}
	var faults []error
	for _, text := range entries {
		if text == everything {
			a.all = true
			continue
		}
		e, err := newEntry(text)
		faults = append(faults, err)
		a.entries = append(a.entries, e)
	}
	return a, errors.Join(faults...)
}

func newEntry(text string) (entry, error) {
	wrong := fmt.Errorf(`%q must be scheme://host or scheme://host:port with the scheme http or https and without a path, such as https://*.shop.internal`, text)
	scheme, rest, found := strings.Cut(text, "://")
	if !found || scheme != "http" && scheme != "https" || strings.ContainsAny(rest, "/?#@ ") {
		return entry{}, wrong
	}
	e := entry{text: text, scheme: scheme, port: portOf(scheme)}
	host := rest
	if h, port, err := net.SplitHostPort(rest); err == nil {
		host, e.port = h, port
	}
	e.host = canonical(host)
	name := strings.TrimPrefix(e.host, "*.")
	if name == "" || strings.ContainsAny(name, "*[]") || e.port == "" || strings.Contains(name, ":") && !isAddress(name) {
		return entry{}, wrong
	}
	return e, nil
}

func portOf(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// canonical writes a host in one way.
func canonical(host string) string {
	host = strings.TrimSuffix(strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return host
}

// Allow tells whether an address may be called, by its scheme, host and port. Ask for every redirect, too.
func (a Addresses) Allow(address *url.URL) error {
	if address.Scheme != "http" && address.Scheme != "https" {
		return fmt.Errorf("%w: the scheme %q is neither http nor https", ErrRefused, address.Scheme)
	}
	if a.all || a.entryOf(address) {
		return nil
	}
	var list []string
	for _, e := range a.entries {
		list = append(list, e.text)
	}
	return fmt.Errorf("%w: %s://%s is none of %s", ErrRefused, address.Scheme, address.Host, strings.Join(list, ", "))
}

// areLabels tells whether a text is what "*" stands for. In anything else, such as a port before the end of the name, others
// may see another name.
var areLabels = regexp.MustCompile(`^[a-z0-9._-]+$`)

func (a Addresses) entryOf(address *url.URL) bool {
	host, port := canonical(address.Hostname()), address.Port()
	if port == "" {
		port = portOf(address.Scheme)
	}
	for _, e := range a.entries {
		named := e.host == host
		if suffix, wild := strings.CutPrefix(e.host, "*"); wild && !isAddress(host) {
			labels, ends := strings.CutSuffix(host, suffix)
			named = ends && areLabels.MatchString(labels)
		}
		if named && e.scheme == address.Scheme && (e.port == "*" || e.port == port) {
			return true
		}
	}
	return false
}

// Dial tells whether a connection may be made, when the name of its host has been looked up. It is for
// [net.Dialer.Control], which the dialer asks about each address that it tries.
func (a Addresses) Dial(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is no address: %w", ErrRefused, address, err)
	}
	ip := to.Addr().Unmap().WithZone("")
	for _, network := range a.networks {
		if network.Contains(ip) {
			return nil
		}
	}
	if a.named(netip.AddrPortFrom(ip, to.Port())) {
		return nil
	}
	if len(a.networks) > 0 {
		return fmt.Errorf("%w: the name of the host leads to %s, which is in none of the networks", ErrRefused, ip)
	}
	if isPrivileged(ip) {
		return fmt.Errorf("%w: the name of the host leads to %s, which is for this machine alone; name it in the list if that is meant", ErrRefused, ip)
	}
	return nil
}

// isPrivileged tells whether only this machine or its cloud listens at an address, or where it leads.
func isPrivileged(ip netip.Addr) bool {
	if ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || slices.Contains(clouds, ip) {
		return true
	}
	for _, way := range waysToIPv4 {
		if way.prefix.Contains(ip) {
			bytes := ip.As16()
			return isPrivileged(netip.AddrFrom4([4]byte(bytes[way.at:])))
		}
	}
	return false
}

// waysToIPv4 are the addresses of IPv6 that lead to the IPv4 address in them, and at which of their bytes it begins.
var waysToIPv4 = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},   // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12}, // NAT64 of one's own network, by a prefix of 96 bits
	{netip.MustParsePrefix("2002::/16"), 2},       // 6to4
	{netip.MustParsePrefix("::/96"), 12},          // IPv4-compatible
}

// clouds are where machines learn their credentials, besides at link-local addresses.
var clouds = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),      // Amazon
	netip.MustParseAddr("fd20:ce::254"),       // Google
	netip.MustParseAddr("168.63.129.16"),      // Azure
	netip.MustParseAddr("100.100.100.200"),    // Alibaba
	netip.MustParseAddr("192.0.0.192"),        // Oracle
	netip.MustParseAddr("fd00:c1::a9fe:a9fe"), // Oracle
	netip.MustParseAddr("fd00:42::42"),        // Scaleway
}

// named tells whether an entry has this very address and port, so that nobody gets further by another name.
func (a Addresses) named(to netip.AddrPort) bool {
	for _, e := range a.entries {
		host := e.host == to.Addr().String() || e.host == "localhost" && to.Addr().IsLoopback()
		if host && (e.port == "*" || e.port == strconv.Itoa(int(to.Port()))) {
			return true
		}
	}
	return false
}
