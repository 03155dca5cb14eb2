package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// noAuthorities is what the error begins with if nobody can tell which authorities to trust.
const noAuthorities = "authorities: "

// tlsNow returns how a connection that begins now is made secure; nil is as the system does it.
func (c Config) tlsNow() (*tls.Config, error) {
	if c.TLS == nil {
		return nil, nil
	}
	config := c.TLS.Clone()
	if c.RootCAs != nil {
		var err error
		if config.RootCAs, err = c.RootCAs(); err != nil {
			return nil, fmt.Errorf(noAuthorities+"%w", err)
		}
	}
	return config, nil
}

// askRootCAs has the client's connections ask for the authorities.
func (c Config) askRootCAs() []grpc.DialOption {
	if c.RootCAs == nil || plain(c.Endpoints[0]) {
		return nil
	}
	return []grpc.DialOption{grpc.WithTransportCredentials(&freshRoots{credentials.NewTLS(c.TLS), c})}
}

// plain tells whether etcd's client makes connections without TLS, whatever its config says: it goes by the first endpoint.
func plain(first string) bool {
	u, err := url.Parse(first)
	return err == nil && u.Scheme == "http"
}

// freshRoots are the credentials of a config, with the authorities as they are when a connection begins.
//
// A tls.Config alone cannot do that: it has no function for its authorities, and a VerifyConnection in the place of the
// check by crypto/tls is not told the server's name if that is an IP address. Here, crypto/tls checks every connection, and
// the name, itself.
type freshRoots struct {
	credentials.TransportCredentials
	config Config
}

// ClientHandshake implements [credentials.TransportCredentials].
func (f *freshRoots) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	config, err := f.config.tlsNow()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(config).ClientHandshake(ctx, authority, conn)
}

// Clone implements [credentials.TransportCredentials].
func (f *freshRoots) Clone() credentials.TransportCredentials {
	return &freshRoots{f.TransportCredentials.Clone(), f.config}
}
