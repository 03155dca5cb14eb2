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
	"fmt"
	"log/slog"
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
)

type handler struct {
	host    string
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
	config := &tls.Config{
		ServerName: h.host, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: slices.Contains(trusted, "*") || slices.Contains(trusted, h.host),
	}
	if p.Flag("email.useSsl", true) {
		h.options = append(h.options, mail.WithSSL())
	} else {
		h.options = append(h.options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	}
	h.options = append(h.options, mail.WithPort(port), mail.WithTLSConfig(config))
	if user := p.Text("email.username", ""); user != "" {
		h.options = append(h.options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover),
			mail.WithUsername(user), mail.WithPassword(p.Text("email.password", "")))
	}
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
	client, err := mail.NewClient(h.host, append(slices.Clip(h.options), mail.WithTimeout(patience(ctx)))...)
	if err != nil {
		return fmt.Errorf("email: %w", h.fault(err))
	}
	if err := client.DialAndSendWithContext(ctx, m); err != nil {
		return fmt.Errorf("email: %w", h.fault(err))
	}
	return nil
}

// fault returns the error without what was read of secrets.
func (h *handler) fault(err error) error { return reference.Redacted(err, h.redact) }

// patience returns how long the server may be silent. The client asks the context only while it
// connects, so the time that the context leaves has to be its own.
func patience(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return max(time.Millisecond, min(most, time.Until(deadline)))
	}
	return most
}
