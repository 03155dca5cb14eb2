package access

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// remote returns the address of whoever opened the connection.
func remote(r *http.Request) netip.Addr {
	address, _ := parseAddr(r.RemoteAddr)
	return address
}

// parseAddr reads an address with or without a port, which some proxies forward, too.
func parseAddr(text string) (netip.Addr, bool) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap(), true
	}
	address, err := netip.ParseAddr(text)
	return address.Unmap(), err == nil
}

func (p *Proxy) trusts(a netip.Addr) bool {
	return p != nil && a.IsValid() && slices.ContainsFunc(p.From, func(from netip.Prefix) bool { return from.Contains(a.WithZone("")) })
}

// clientOf returns the address from which a request comes: behind trusted proxies the last one that none of them has.
func (p *Proxy) clientOf(r *http.Request) netip.Addr {
	at := remote(r)
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(forwarded) {
		if !p.trusts(at) {
			break
		}
		address, is := parseAddr(strings.TrimSpace(text))
		if !is {
			break
		}
		at = address
	}
	return at
}

// says returns who somebody is, as a trusted proxy says; false if none does. A header that is there twice is not
// heeded: one of the two may be the client's.
func (p *Proxy) says(r *http.Request) (name string, groups []string, ok bool) {
	if p == nil || p.UserHeader == "" || !p.trusts(remote(r)) {
		return "", nil, false
	}
	names := r.Header.Values(p.UserHeader)
	if len(names) != 1 || checkName(names[0]) != nil {
		return "", nil, false
	}
	if p.GroupsHeader != "" {
		for group := range strings.SplitSeq(strings.Join(r.Header.Values(p.GroupsHeader), ","), ",") {
			if group = strings.TrimSpace(group); group != "" {
				groups = append(groups, group)
			}
		}
	}
	return names[0], groups, true
}
