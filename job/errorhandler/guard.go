package errorhandler

import (
	"net/url"
	"syscall"
)

// Guard says which addresses handlers may call, where whoever writes the configuration of a job is not to decide that alone.
// The packages of handlers that call addresses have a function Guarded, which makes their factory with one. Its methods are
// called concurrently. With one, proxies of the environment are not used, as it could not see behind them.
type Guard interface {
	// Allow is asked about the address when the handler is made, which fails if it is refused, and about each request before it
	// is made, also those to which a redirect leads. If one names another host in its header Host, it is asked about that one
	// as well.
	Allow(address *url.URL) error
	// Dial is asked about each connection when the name of the host has been looked up, as [net.Dialer.Control] is.
	//
	// [net.Dialer.Control]: https://pkg.go.dev/net#Dialer
	Dial(network, address string, conn syscall.RawConn) error
}
