package dump

// Option changes what a [Server] shows, and to whom.
type Option func(*options)

type options struct {
	job           string
	addresses     bool
	secretsMasked bool
	anyAddress    bool
}

// WithJob sets the job that the bare word "dump" means. The default is the only job there is, and none
// if there are several.
func WithJob(name string) Option { return func(o *options) { o.job = name } }

// WithAddresses shows IPv4 addresses as they are. The default masks them.
func WithAddresses() Option { return func(o *options) { o.addresses = true } }

// WithSecretsMasked hides what may be secret: parameters, commands, addresses and headers of requests,
// error texts and checkpoints. The default shows them.
func WithSecretsMasked() Option { return func(o *options) { o.secretsMasked = true } }

// WithAnyAddress lets the server listen on other than loopback addresses.
func WithAnyAddress() Option { return func(o *options) { o.anyAddress = true } }
