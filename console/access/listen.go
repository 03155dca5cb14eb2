package access

import (
	"fmt"
	"net"
	"net/netip"
)

// CheckListen returns an error if a server that asks nobody who they are would listen on an address that others reach.
func CheckListen(address string, authenticated bool) error {
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return fmt.Errorf(`%w address %q: it must be a host and a port such as "127.0.0.1:8080"`, ErrInvalid, address)
	case authenticated || loopback(host):
		return nil
	default:
		return fmt.Errorf("%w address %q: without a users file, an OpenID provider or a proxy's header the server listens on loopback only, "+
			`such as "127.0.0.1:8080"`, ErrInvalid, address)
	}
}

// loopback tells whether a host is this machine, whoever asks.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// onLoopback tells whether a request names this machine. A page of elsewhere can have its own name lead here, but
// browsers then say that name.
func onLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	return loopback(host)
}
