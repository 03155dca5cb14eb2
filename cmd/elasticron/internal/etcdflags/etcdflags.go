// Package etcdflags gives commands the flags by which they reach an etcd cluster.
package etcdflags

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tlsfiles"
	"github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/registry/etcd"
)

// Flags says which cluster to use, and as whom. The password is never a flag, which every user of the
// machine could read, but a variable of the environment, or in a file that one names.
type Flags struct {
	Log *slog.Logger // hears of renewed files; nil is silence

	endpoints        []string
	user             string
	ca, cert, key    string
	names            names
	passwordVariable string
	passwordFile     string
	password         func() (string, error)
}

// names are what the flags are called, for messages.
type names struct{ endpoints, user, ca, cert, key string }

// New registers the flags: endpoints is the name of the first, and prefix stands before all others,
// as in "to-user". The password is that of the variable.
func New(set *pflag.FlagSet, endpoints, prefix, passwordVariable string) *Flags {
	f := &Flags{
		passwordVariable: passwordVariable,
		names:            names{endpoints, prefix + "user", prefix + "ca", prefix + "cert", prefix + "key"},
	}
	set.StringSliceVar(&f.endpoints, endpoints, nil, "endpoints of the etcd cluster, as URLs separated by commas")
	set.StringVar(&f.user, f.names.user, "", "user of the etcd cluster; the password is that of $"+passwordVariable+", or in the file that $"+passwordVariable+ofFile+" names")
	set.StringVar(&f.ca, f.names.ca, "", "PEM file of the authorities that etcd's certificates are checked against (default: the system's)")
	set.StringVar(&f.cert, f.names.cert, "", "PEM file of the client's certificate")
	set.StringVar(&f.key, f.names.key, "", "PEM file of the client's key")
	return f
}

// Given tells whether endpoints were named.
func (f *Flags) Given() bool { return len(f.endpoints) > 0 }

// SameServers tells whether one server at least is named by both.
func (f *Flags) SameServers(other *Flags) bool {
	return slices.ContainsFunc(f.endpoints, func(e string) bool { return slices.Contains(other.endpoints, e) })
}

// Open connects to the cluster.
func (f *Flags) Open(ctx context.Context, namespace string) (*etcd.Registry, error) {
	config, err := f.Config(namespace)
	if err != nil {
		return nil, err
	}
	return etcd.Open(ctx, config)
}

// FileError is a file that cannot be read, or does not hold what it should. The flags may be in order all the same: somebody
// may be about to replace it.
type FileError struct{ err error }

func (e FileError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e FileError) Unwrap() error { return e.err }

func fileError(format string, args ...any) error { return FileError{fmt.Errorf(format, args...)} }

// Config returns what the flags say, to connect by. Each connection uses the certificates and authorities that the files
// hold when it begins, and each login the password. What is wrong with a file is a [FileError], and everything else is
// wrong with the flags.
func (f *Flags) Config(namespace string) (etcd.Config, error) {
	c := etcd.Config{Endpoints: f.endpoints, Namespace: namespace}
	if !f.Given() {
		return c, fmt.Errorf("--%s is missing: want the URLs of the etcd cluster, such as http://10.0.0.1:2379", f.names.endpoints)
	}
	if slices.ContainsFunc(f.endpoints, reference.HasLogin) { // which the client would not use, and errors would show
		return c, fmt.Errorf("--%s has an address with a user or a password: want --%s, and the password in $%s", f.names.endpoints, f.names.user, f.passwordVariable)
	}
	if f.user != "" {
		password, err := f.Password()
		if err != nil {
			return c, err
		}
		c.Username, c.PasswordFunc = f.user, func(context.Context) (string, error) {
			if f.readOnce() {
				return password, nil
			}
			return f.Password()
		}
	}
	secure, roots, err := f.secure()
	if err != nil {
		return c, err
	}
	c.TLS = secure
	if roots != nil {
		c.RootCAs = func() (*x509.CertPool, error) { return roots.Pool(), nil }
	}
	return c, nil
}

// User returns the user's name; empty if none is given.
func (f *Flags) User() string { return f.user }

// ofFile ends the name of the variable that names a file in the place of a value.
const ofFile = "_FILE"

// Password returns the password of the user as it is now, without a line end: a file often has one, and so has a variable
// that was made from such a file.
func (f *Flags) Password() (string, error) {
	if password := f.passwordItself(); password != "" {
		return password, nil
	}
	file := f.fileOfPassword()
	switch {
	case file != "":
	case f.password != nil:
		return f.password()
	default:
		return "", fmt.Errorf("--%s is given, and $%s is empty: want the password there, or a file of it in $%[2]s%s", f.names.user, f.passwordVariable, ofFile)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fileError("password of %s: %w", f.user, err)
	}
	password := reference.WithoutLineEnd(string(text))
	if password == "" { // somebody may be writing it
		return "", fileError("password of %s: file %s is empty", f.user, file)
	}
	return password, nil
}

// readOnce tells whether the password is in what can be read but once, such as a pipe of a shell.
func (f *Flags) readOnce() bool {
	is, err := os.Stat(f.fileOfPassword())
	return err == nil && !is.Mode().IsRegular()
}

// passwordItself is the password, if the environment holds it.
func (f *Flags) passwordItself() string {
	return reference.WithoutLineEnd(os.Getenv(f.passwordVariable))
}

// fileOfPassword names the file that holds the password; empty if it is elsewhere, or nowhere.
func (f *Flags) fileOfPassword() string {
	file := os.Getenv(f.passwordVariable + ofFile)
	switch {
	case f.passwordItself() != "":
		return ""
	case file == "" && f.password == nil:
		return f.passwordFile
	default:
		return file
	}
}

// Defaults stand in for flags that are not given.
type Defaults struct {
	Endpoints     []string
	User          string
	PasswordFile  string                 // holds the password, unless a variable does or names another one
	Password      func() (string, error) // the same, from elsewhere; nil = PasswordFile
	CA, Cert, Key string
}

// Default takes over what flags do not say.
func (f *Flags) Default(d Defaults) {
	if len(f.endpoints) == 0 {
		f.endpoints = d.Endpoints
	}
	if f.user == "" {
		f.user, f.passwordFile, f.password = d.User, d.PasswordFile, d.Password
	}
	if f.cert == "" && f.key == "" {
		f.cert, f.key = d.Cert, d.Key
	}
	f.ca = cmp.Or(f.ca, d.CA)
}

// SecuredBy returns the name of a flag that asks for TLS, or of what stands in its place; empty if nothing does.
func (f *Flags) SecuredBy() string {
	switch {
	case f.ca != "":
		return "--" + f.names.ca
	case f.cert != "":
		return "--" + f.names.cert
	case f.key != "":
		return "--" + f.names.key
	default:
		return ""
	}
}

// TLS returns how a server is checked, and what is shown to it; nil is as the system does it. Each connection shows the
// certificate that the files hold when it begins; the authorities are those of now.
func (f *Flags) TLS() (*tls.Config, error) {
	c, roots, err := f.secure()
	if roots != nil {
		c.RootCAs = roots.Pool()
	}
	return c, err
}

// secure returns [Flags.TLS] without the authorities, and those; nil are the system's.
func (f *Flags) secure() (*tls.Config, *tlsfiles.Roots, error) {
	if f.ca == "" && f.cert == "" && f.key == "" {
		return nil, nil, nil
	}
	if (f.cert == "") != (f.key == "") {
		return nil, nil, fmt.Errorf("--%s and --%s must be given together", f.names.cert, f.names.key)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	var roots *tlsfiles.Roots
	if f.ca != "" {
		var err error
		if roots, err = tlsfiles.NewRoots(f.ca, f.Log); err != nil {
			return nil, nil, fileError("--%s: %w", f.names.ca, err)
		}
	}
	if f.cert != "" {
		pair, err := tlsfiles.NewPair(f.cert, f.key, f.Log)
		if err != nil {
			return nil, nil, fileError("--%s, --%s: %w", f.names.cert, f.names.key, err)
		}
		c.GetClientCertificate = pair.Client
	}
	return c, roots, nil
}
