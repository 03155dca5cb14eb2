package etcdserver

import (
	"time"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
)

// Option changes how servers are started. Each is the option of package embedded of that name, which
// says what it does and what values it may have.
type Option func(*wire.Cluster)

// WithFastTest is embedded.WithFastTest.
func WithFastTest() Option {
	return func(c *wire.Cluster) { c.FastTest, c.Heartbeat, c.Election = true, 0, 0 }
}

// WithHeartbeat is embedded.WithHeartbeat.
func WithHeartbeat(interval, election time.Duration) Option {
	return func(c *wire.Cluster) { c.Heartbeat, c.Election = interval, election }
}

// WithQuota is embedded.WithQuota.
func WithQuota(bytes int64) Option { return func(c *wire.Cluster) { c.Quota = bytes } }

// WithRetention is embedded.WithRetention.
func WithRetention(d time.Duration) Option { return func(c *wire.Cluster) { c.Retention = &d } }

// WithMaxTxnOps is embedded.WithMaxTxnOps.
func WithMaxTxnOps(n int) Option { return func(c *wire.Cluster) { c.MaxTxnOps = n } }

// WithTLS is embedded.WithTLS.
func WithTLS(certFile, keyFile, clientCA string) Option {
	return func(c *wire.Cluster) { c.CertFile, c.KeyFile, c.ClientCA = certFile, keyFile, clientCA }
}

// WithSeparateHTTP is embedded.WithSeparateHTTP.
func WithSeparateHTTP() Option { return func(c *wire.Cluster) { c.SeparateHTTP = true } }
