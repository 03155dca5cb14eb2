package dump

// Option changes what a [Server] shows, and to whom.
type Option func(*options)

type options struct {
	job        string
	addresses  bool
	secrets    bool
	anyAddress bool
}

// WithJob sets the job that the bare word "dump" means. The default is the only job there is, and none
// if there are several.
func WithJob(name string) Option { return func(o *options) { o.job = name } }

// WithAddresses shows IPv4 addresses as they are. The default masks them.
func WithAddresses() Option { return func(o *options) { o.addresses = true } }

// WithSecrets shows everything as it is stored. The default hides what may be secret; see the package documentation.
func WithSecrets() Option { return func(o *options) { o.secrets = true } }

// WithAnyAddress lets the server listen on other than loopback addresses.
func WithAnyAddress() Option { return func(o *options) { o.anyAddress = true } }
