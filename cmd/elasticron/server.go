package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tlsfiles"
	"github.com/elasticron/elasticron/console"
	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// serving is one run of the server.
type serving struct {
	program *program
	conn    *connection
	out     io.Writer
	log     *slog.Logger

	listen, prefix       string
	certFile, keyFile    string
	embedded             bool
	data, embeddedListen string
	history              string
	verbose              bool
	access               access.Config
	oidc                 access.OIDC
	oidcSecretFile       string
	proxyFrom            []string
	proxy                access.Proxy

	closers []func() error // what was opened, the last first
}

// secretVariable is the variable of the environment that holds the secret of the OpenID client.
const secretVariable = "ELASTICRON_OIDC_SECRET"

func newServer(p *program) *cobra.Command {
	s := &serving{program: p}
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Serve the console: pages, an HTTP API and a live stream",
		Long: `Server shows the namespaces of a registry in a browser, live, and lets people and programs
operate them: docs/console.md tells how, and what may go wrong. Several namespaces are named with
commas between them. It takes part in no job, and any number of servers may stand side by side.

Whoever asks is asked who they are, if --users, --oidc-issuer or --proxy-user-header says how.
Without any of them everybody may do everything, and the server listens on loopback only.

With --embedded it starts an etcd server of its own, which other processes may use, and keeps in the
folder of --data what that holds, and for 30 days what ran: for trying things out, and for one
machine.

SIGTERM or Ctrl-C has it stop: requests have ten seconds to be answered. A second one ends it at
once. Under systemd, use Type=notify; a watchdog is served.`,
		Example: `  elasticron server --embedded --data ./console -n shop
  elasticron server --etcd https://etcd1:2379 -n shop,bank --users users.yaml --session-key session.key \
    --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			outliveReaders()
			if !hasTerminal() {
				outliveHangups() // nothing is read anew by it: the files of users and keys are by themselves
			}
			lines := newLogLines(cmd.ErrOrStderr())
			s.out, s.log = cmd.OutOrStdout(), s.logger(lines)
			ctx, restore := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer restore()
			context.AfterFunc(ctx, func() { restore(); lines.hurry() }) // a second signal ends the program at once
			return s.run(ctx)
		},
	}
	flags := cmd.Flags()
	s.conn = newRegistryConnection(p, flags)
	s.flags(flags)
	cmd.AddCommand(newServerPassword(p), newServerToken(), newServerKey())
	return cmd
}

func (s *serving) flags(flags *pflag.FlagSet) {
	flags.StringVar(&s.listen, "listen", consoleAddress, "address to listen on")
	flags.StringVar(&s.prefix, "prefix", "", "path below which a proxy serves the console, such as /cron")
	flags.StringVar(&s.certFile, "tls-cert", "", "PEM file of the certificate for HTTPS (default: HTTP)")
	flags.StringVar(&s.keyFile, "tls-key", "", "PEM file of its key")
	flags.BoolVar(&s.embedded, "embedded", false, "start an etcd server in this process, and show that")
	flags.StringVar(&s.data, "data", "elasticron-data", "folder of what --embedded keeps")
	flags.StringVar(&s.embeddedListen, "embedded-listen", "127.0.0.1:2379", "address of the etcd server of --embedded; empty is a free port of 127.0.0.1")
	flags.StringVar(&s.history, "history", "", "SQLite file of a history to show, of one namespace (default: with --embedded its own, else what the registry keeps)")
	flags.StringVar(&s.access.UsersFile, "users", "", "file of users, tokens and what they may do")
	flags.StringVar(&s.access.KeyFile, "session-key", "", "file of the keys of sessions, for several servers (default: sessions end with the process)")
	flags.StringSliceVar(&s.access.Origins, "origin", nil, "other origins whose pages may use the API, such as https://ops.example.com")
	flags.StringVar(&s.oidc.Issuer, "oidc-issuer", "", "URL of an OpenID provider to log in at")
	flags.StringVar(&s.oidc.ClientID, "oidc-client-id", "", "id of this client there")
	flags.StringVar(&s.oidcSecretFile, "oidc-secret-file", "", "file of the client's secret, unless $"+secretVariable+" holds it")
	flags.StringVar(&s.oidc.RedirectURL, "oidc-redirect", "", "URL of this server with its prefix and /oidc/callback")
	flags.StringVar(&s.oidc.NameClaim, "oidc-name-claim", "", "claim that names somebody (default: email)")
	flags.StringVar(&s.oidc.GroupsClaim, "oidc-groups-claim", "", "claim that lists groups (default: groups)")
	flags.StringSliceVar(&s.proxyFrom, "proxy-from", nil, "addresses of proxies whose headers are heeded, such as 10.0.0.0/8")
	flags.StringVar(&s.proxy.UserHeader, "proxy-user-header", "", "header in which they say who somebody is")
	flags.StringVar(&s.proxy.GroupsHeader, "proxy-groups-header", "", "header in which they list the groups")
	flags.BoolVar(&s.verbose, "verbose", false, "log what is for those who look for a fault, too")
}

func (s *serving) logger(out io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if s.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
}

func (s *serving) run(ctx context.Context) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	secure, err := s.tls()
	if err != nil {
		return err
	}
	defer func() {
		for _, closes := range s.closers {
			err = errors.Join(err, closes())
		}
	}()
	config, err := s.config(ctx)
	if err != nil {
		return interrupted(ctx, err)
	}
	server, err := console.New(ctx, config)
	if err != nil {
		return interrupted(ctx, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		server.Close()
		return interrupted(ctx, err)
	}
	scheme := "http"
	if secure != nil {
		scheme = "https"
	}
	s.tell("The console is at %s://%s%s/\n", scheme, listener.Addr(), s.prefix)
	defer underSystemd(ctx, server.Handler(), s.log)()
	return server.Serve(ctx, listener, secure)
}

// interrupted is no error if the program was asked to stop while it started.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// check completes the settings, and names what is wrong with them before anything is opened.
func (s *serving) check() error {
	switch {
	case s.embedded && (s.conn.etcd.Given() || len(s.conn.zooKeeper) > 0 || s.conn.context != ""):
		return misuse("--embedded is given besides --etcd, --zookeeper or --context: want one of them")
	case s.embedded && s.conn.namespace == "":
		return misuse("--namespace is missing: want the namespaces to show")
	case (s.certFile == "") != (s.keyFile == ""):
		return misuse("--tls-cert and --tls-key must be given together")
	case s.oidc.Issuer == "" && s.oidc.ClientID+s.oidc.RedirectURL+s.oidcSecretFile+s.oidc.NameClaim+s.oidc.GroupsClaim != "":
		return misuse("--oidc-issuer is missing: want the URL of the provider")
	case len(s.proxyFrom) == 0 && s.proxy.UserHeader+s.proxy.GroupsHeader != "":
		return misuse("--proxy-from is missing: want the addresses of the proxies")
	}
	if err := s.oneHistory(namespacesOf(s.conn.namespace)); err != nil {
		return err
	}
	s.access.Prefix = s.prefix
	if s.access.KeyFile == "" { // which would tell servers of one host apart
		if _, port, err := net.SplitHostPort(s.listen); err == nil && port != "0" {
			s.access.Cookie = port
		}
	}
	if s.oidc.Issuer != "" {
		secret, err := s.secret()
		if err != nil {
			return err
		}
		s.oidc.ClientSecret = secret
		s.access.OIDC = &s.oidc
	}
	if len(s.proxyFrom) > 0 {
		for _, text := range s.proxyFrom {
			from, err := prefixOf(text)
			if err != nil {
				return misuse("--proxy-from is %q, want an address or a range such as 10.0.0.0/8", text)
			}
			s.proxy.From = append(s.proxy.From, from)
		}
		s.access.Proxy = &s.proxy
	}
	asked := s.access.UsersFile != "" || s.access.OIDC != nil || s.proxy.UserHeader != ""
	if err := access.CheckListen(s.listen, asked); err != nil {
		return usageError{fmt.Errorf("--listen: %w", err)}
	}
	return nil
}

func prefixOf(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}

func (s *serving) secret() (string, error) {
	if secret := strings.TrimSpace(s.program.env(secretVariable)); secret != "" || s.oidcSecretFile == "" {
		return secret, nil
	}
	text, err := os.ReadFile(s.oidcSecretFile)
	if err != nil {
		return "", fmt.Errorf("--oidc-secret-file: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

func (s *serving) tls() (*tls.Config, error) {
	if s.certFile == "" {
		return nil, nil
	}
	pair, err := tlsfiles.NewPair(s.certFile, s.keyFile, s.log)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	return &tls.Config{GetCertificate: pair.Server, MinVersion: tls.VersionTLS12}, nil
}

// closes notes what is to be closed at the end, before what was opened earlier.
func (s *serving) closes(do func() error) { s.closers = append([]func() error{do}, s.closers...) }

// config opens the registries and the history.
func (s *serving) config(ctx context.Context) (console.Config, error) {
	c := console.Config{Access: s.access, Logger: s.log}
	open, names, err := s.registries(ctx)
	if err != nil {
		return c, err
	}
	if err := s.oneHistory(names); err != nil { // the context may name several
		return c, err
	}
	kept, err := s.shownHistory(ctx)
	if err != nil {
		return c, err
	}
	for _, name := range names {
		reg, err := open(name)
		if err != nil {
			return c, err
		}
		s.closes(func() error { return leave(ctx, reg) })
		of := kept
		if of == nil && s.embedded {
			if of, err = s.ownHistory(ctx, name, reg); err != nil {
				return c, err
			}
		}
		c.Namespaces = append(c.Namespaces, console.Namespace{Name: name, Registry: operate.Store(reg), History: of})
	}
	return c, nil
}

// registries returns how the namespaces are opened, and their names.
func (s *serving) registries(ctx context.Context) (open func(name string) (registry.Registry, error), names []string, err error) {
	if s.embedded {
		endpoints, err := s.startEtcd(ctx)
		if err != nil {
			return nil, nil, err
		}
		open = func(name string) (registry.Registry, error) {
			return s.program.etcd(ctx, etcd.Config{Endpoints: endpoints, Namespace: name, Logger: s.log})
		}
		return open, namespacesOf(s.conn.namespace), nil
	}
	chosen, err := s.conn.chosen()
	switch {
	case err != nil:
		return nil, nil, err
	case chosen.Server != "":
		return nil, nil, misuse("the context is that of a server, want --etcd, --zookeeper or --embedded")
	}
	if err := oneRegistry(chosen); err != nil {
		return nil, nil, err
	}
	s.conn.etcd.Log = s.log
	namespaces := chosen.Namespace
	if s.conn.namespace != "" {
		namespaces = s.conn.namespace
	}
	s.conn.log = s.log
	names = namespacesOf(namespaces)
	if len(names) == 0 {
		return nil, nil, misuse("--namespace is missing: want the namespaces to show")
	}
	wait := s.program.newStartWait(s.log)
	open = func(name string) (registry.Registry, error) {
		s.conn.namespace = name
		return wait.open(ctx, func(ctx context.Context) (registry.Registry, error) { return s.conn.open(ctx, chosen) })
	}
	return open, names, nil
}

func namespacesOf(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// startEtcd starts the server of --embedded and returns where clients find it.
func (s *serving) startEtcd(ctx context.Context) ([]string, error) {
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	options := []embedded.Option{embedded.WithDir(filepath.Join(s.data, "etcd")), lastWords(s.log)}
	if s.embeddedListen != "" {
		options = append(options, embedded.WithAddress(s.embeddedListen))
	}
	if s.verbose { // it has much to say, also of its own end
		options = append(options, embedded.WithLogger(s.log))
	}
	server, err := embedded.Start(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("--embedded: %w", err)
	}
	s.closes(server.Close)
	s.tell("etcd is at %s\n", strings.Join(server.Endpoints(), ","))
	return server.Endpoints(), nil
}

// tell writes to whoever started the server. A reader who went away is no reason not to serve.
func (s *serving) tell(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }
