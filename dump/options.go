package dump

import (
	"fmt"

	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption says that an option of [Listen] has a value that is not allowed. It is one error in all packages of
// this module: errors.Is finds it by the name that any of them gives it.
var ErrInvalidOption = option.ErrInvalid

// Option changes what a [Server] shows, and to whom.
type Option func(*options) error

type options struct {
	job        string
	addresses  bool
	secrets    bool
	anyAddress bool
}

// WithJob sets the job that the bare word "dump" means. The default is the only job there is, and none
// if there are several.
func WithJob(name string) Option {
	return func(o *options) error {
		if name == "" {
			return fmt.Errorf("%w: the job's name is empty", ErrInvalidOption)
		}
		o.job = name
		return nil
	}
}

// WithAddresses shows IPv4 addresses as they are. The default masks them.
func WithAddresses() Option {
	return func(o *options) error {
		o.addresses = true
		return nil
	}
}

// WithSecrets shows everything as it is stored. The default hides what may be secret; see the package documentation.
func WithSecrets() Option {
	return func(o *options) error {
		o.secrets = true
		return nil
	}
}

// WithAnyAddress lets the server listen on other than loopback addresses.
func WithAnyAddress() Option {
	return func(o *options) error {
		o.anyAddress = true
		return nil
	}
}
