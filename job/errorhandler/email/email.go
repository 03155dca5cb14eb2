// Package email has the error handler EMAIL: it sends each failure by mail.
//
//	handlers := errorhandler.Default()
//	err := handlers.Register(email.Name, email.New)
//	s, err := scheduler.New(registry, scheduler.WithErrorHandlers(handlers))
//
// A job that names it in [job.Config.ErrorHandler] has its settings in [job.Config.Props], named as in ElasticJob
// 3.x:
//
//	email.host       SMTP server; required
//	email.port       its port; required
//	email.username   for authentication; without it there is none
//	email.password
//	email.useSsl     TLS from the first byte; default true. Without it the connection becomes TLS
//	                 if the server offers that
//	email.ssl.trust  servers, separated by spaces, whose certificates are not checked; * is all
//	email.subject    default "ElasticJob error message"
//	email.from       address, or one with a name such as Jobs <jobs@example.com>; required
//	email.to         such addresses, separated by commas; required
//	email.cc         addresses, separated by commas
//	email.bcc        addresses, separated by commas
//	email.debug      taken for the sake of 3.x, has no effect
//
// A password in the settings is stored with them, as plain text. So name a place where the process finds it:
// "env:SMTP_PASSWORD" is a variable, "file:/run/secrets/smtp" a file; see [job.PropsReader]. It is never sent
// over a connection that is not encrypted.
package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	netmail "net/mail"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
)

// Name is the name under which the handler is registered, for [job.Config.ErrorHandler].
const Name = "EMAIL"

const (
	longest = 256 << 10        // of a text, in bytes
	most    = 10 * time.Second // that a server may be silent
	parting = time.Second      // that it has for an answer to our farewell
)

type handler struct {
	host    string
	tls     *tls.Config
	secure  bool // TLS from the first byte
	options []mail.Option
	draft   func() (*mail.Msg, error) // a message without text
	redact  func(string) string       // takes secrets out of errors
}

// New makes the handler of a job. It is an [errorhandler.Factory].
func New(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) {
	p := job.ReadProps(cfg.Props)
	h := &handler{host: p.Required("email.host"), redact: p.Redact}
	p.Required("email.port")
	port := p.Number("email.port", 465, 1, 65_535)
	h.connect(p, port)
	h.address(p)
	p.Flag("email.debug", false)
	p.Only("email.", "email.host", "email.port", "email.username", "email.password", "email.useSsl", "email.ssl.trust",
		"email.subject", "email.from", "email.to", "email.cc", "email.bcc", "email.debug")
	if err := p.Err(); err != nil {
		return nil, err
	}
	if _, err := h.draft(); err != nil {
		return nil, h.fault(err)
	}
	if _, err := mail.NewClient(h.host, h.options...); err != nil {
		return nil, h.fault(err)
	}
	return h, nil
}

// connect reads how to reach the server.
func (h *handler) connect(p *job.PropsReader, port int) {
	trusted := strings.Fields(p.Text("email.ssl.trust", ""))
	h.tls = &tls.Config{
		ServerName: h.host, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: slices.Contains(trusted, "*") || slices.Contains(trusted, h.host),
	}
	h.secure = p.Flag("email.useSsl", true)
	encryption, auth := mail.WithTLSPolicy(mail.TLSOpportunistic), mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover)
	if h.secure { // so STARTTLS is none of our business, and the client does not know that a password may be sent
		encryption, auth = mail.WithSSL(), mail.WithOpportunisticSMTPAuth(secureAuth...)
	}
	h.options = append(h.options, encryption, mail.WithPort(port), mail.WithTLSConfig(h.tls))
	if user := p.Text("email.username", ""); user != "" {
		h.options = append(h.options, auth, mail.WithUsername(user), mail.WithPassword(p.Text("email.password", "")))
	}
}

// secureAuth is how to authenticate within TLS, the best first: as the client discovers it where it has made the TLS.
var secureAuth = []mail.SMTPAuthType{
	mail.SMTPAuthSCRAMSHA256PLUS, mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1PLUS, mail.SMTPAuthSCRAMSHA1,
	mail.SMTPAuthNTLM, mail.SMTPAuthCramMD5, mail.SMTPAuthPlain, mail.SMTPAuthLogin,
}

// address reads who writes to whom.
func (h *handler) address(p *job.PropsReader) {
	subject := p.Text("email.subject", "ElasticJob error message")
	from, to := p.Required("email.from"), addresses(p.Required("email.to"))
	cc, bcc := addresses(p.Text("email.cc", "")), addresses(p.Text("email.bcc", ""))
	h.draft = func() (*mail.Msg, error) {
		m := mail.NewMsg()
		m.Subject(subject)
		if err := m.From(from); err != nil {
			return nil, fmt.Errorf("email.from: %w", err)
		}
		if err := m.To(to...); err != nil {
			return nil, fmt.Errorf("email.to: %w", err)
		}
		if err := m.Cc(cc...); err != nil {
			return nil, fmt.Errorf("email.cc: %w", err)
		}
		if err := m.Bcc(bcc...); err != nil {
			return nil, fmt.Errorf("email.bcc: %w", err)
		}
		return m, nil
	}
}

// addresses takes a list apart: as mail programs write one, with names such as in "Ops Team <ops@example.com>,
// j@example.com", or of bare addresses with commas or spaces between them.
func addresses(list string) []string {
	if parsed, err := netmail.ParseAddressList(list); err == nil {
		all := make([]string, len(parsed))
		for i, address := range parsed {
			all[i] = address.String()
		}
		return all
	}
	if strings.ContainsAny(list, `<"`) {
		return []string{list} // the client says what is wrong
	}
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// HandleError sends the failure.
func (h *handler) HandleError(ctx context.Context, name string, sc job.ShardingContext, failure error) error {
	m, err := h.draft()
	if err != nil {
		return h.fault(err)
	}
	m.SetBodyString(mail.TypeTextPlain, errorhandler.Describe(name, sc, failure, longest))
	if err := h.send(ctx, m); err != nil {
		return fmt.Errorf("email: %w", h.fault(err))
	}
	return nil
}

// send hands a message to the server. What the server has taken is sent, whatever becomes of the connection then.
func (h *handler) send(ctx context.Context, m *mail.Msg) (err error) {
	l := &line{ctx: ctx, handler: h}
	defer l.close()
	defer func() {
		switch cause := context.Cause(ctx); {
		case err == nil || m.IsDelivered():
			err = nil
		case cause != nil && !errors.Is(err, cause):
			err = fmt.Errorf("%w: %w", cause, err)
		case !h.secure && errors.Is(err, mail.ErrNoSupportedAuthDiscovered):
			err = fmt.Errorf("%w; no password is sent without TLS, which the server has to offer", err)
		}
	}()
	client, err := mail.NewClient(h.host, append(slices.Clip(h.options), mail.WithTimeout(patience(ctx)), mail.WithDialContextFunc(l.dial))...)
	if err != nil {
		return err
	}
	server, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("dial failed: %w", err)
	}
	if err = client.SendWithSMTPClient(server, m); err != nil {
		err = fmt.Errorf("send failed: %w", err)
	}
	if server.UpdateDeadline(parting) == nil {
		_ = server.Quit() // a courtesy
	}
	return err
}

// line is the connection of one message. The client asks the context only while it connects, so the context's end closes the
// connection under it.
type line struct {
	*handler

	ctx  context.Context
	conn net.Conn // nil before it is there
	stay func() bool
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.conn, l.stay = conn, context.AfterFunc(l.ctx, func() { _ = conn.Close() }) //nolint:contextcheck // ctx ends once there is a connection
	if !l.secure {
		return conn, nil
	}
	secured := tls.Client(conn, l.tls)
	return secured, secured.HandshakeContext(ctx)
}

func (l *line) close() {
	if l.conn != nil {
		l.stay()
		_ = l.conn.Close()
	}
}

// fault returns the error without what was read of secrets.
func (h *handler) fault(err error) error { return reference.Redacted(err, h.redact) }

// patience returns how long the server may be silent.
func patience(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return max(time.Millisecond, min(most, time.Until(deadline)))
	}
	return most
}
