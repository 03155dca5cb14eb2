package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	netmail "net/mail"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/dingtalk"
	"github.com/elasticron/elasticron/job/errorhandler/email"
	"github.com/elasticron/elasticron/job/errorhandler/webhook"
	"github.com/elasticron/elasticron/job/errorhandler/wechat"
)

// alerting is code of jobs whose error handlers are judged with it: a job whose failures would tell nobody pauses here, as it
// does if its code cannot be used.
type alerting struct {
	job.Handler
	handlers *errorhandler.Registry
}

// Configure refuses what the code refuses, and error handlers that are not known or not allowed.
func (a alerting) Configure(cfg job.Config) (job.HandlerFunc, error) {
	code, err := a.Handler.Configure(cfg)
	_, faulty := a.handlers.New(cfg, slog.New(slog.DiscardHandler))
	if err := errors.Join(err, faulty); err != nil {
		return nil, err
	}
	return code, nil
}

// handlersOf are the error handlers that jobs may name, within what the file allows. Whoever can write to the registry chooses
// the handler and its settings.
func handlersOf(file File, guard errorhandler.Guard) (*errorhandler.Registry, error) {
	handlers := errorhandler.Default()
	var faults []error
	for name, guarded := range map[string]func(errorhandler.Guard) errorhandler.Factory{
		webhook.Name: webhook.Guarded, wechat.Name: wechat.Guarded, dingtalk.Name: dingtalk.Guarded,
	} {
		factory := without("http")
		if file.HTTP != nil {
			factory = allowedSecrets(strings.ToLower(name)+".", file.HTTP.Secrets, guarded(guard))
		}
		faults = append(faults, handlers.Register(name, factory))
	}
	factory := without("mail")
	if file.Mail != nil {
		factory = file.Mail.handler
	}
	return handlers, errors.Join(append(faults, handlers.Register(email.Name, factory))...)
}

// without is the factory of a handler that needs a section which the file does not have.
func without(section string) errorhandler.Factory {
	return func(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) {
		return nil, &job.FieldError{
			Field: "ErrorHandler", Value: cfg.ErrorHandler,
			Reason: "needs the section " + section + " of the worker's file, which says where failures may be told, and is not there",
		}
	}
}

// allowedSecrets refuses settings below a prefix that refer to what is not on the list.
func allowedSecrets(prefix string, secrets []string, factory errorhandler.Factory) errorhandler.Factory {
	return func(cfg job.Config, log *slog.Logger) (job.ErrorHandler, error) {
		if err := refusedReferences(cfg, prefix, secrets); err != nil {
			return nil, err
		}
		return factory(cfg, log)
	}
}

// handler makes the handler of a job that has its failures sent by mail: the server, who sends, and as whom are those of the
// file, and the job's to say are the subject and who gets it, of those to whom the file allows.
func (m *Mail) handler(cfg job.Config, log *slog.Logger) (job.ErrorHandler, error) {
	props, err := m.props(cfg)
	if err != nil {
		return nil, err
	}
	anew := func() (job.ErrorHandler, error) { return email.New(job.Config{Name: cfg.Name, Props: props}, log) }
	if _, err := anew(); err != nil {
		return nil, err
	}
	return job.ErrorHandlerFunc(func(ctx context.Context, name string, sc job.ShardingContext, failure error) error {
		handler, err := anew() // with the password as it is now
		if err != nil {
			return err
		}
		return handler.HandleError(ctx, name, sc, failure)
	}), nil
}

// props are the settings of package email.
func (m *Mail) props(cfg job.Config) (map[string]string, error) {
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil {
		return nil, err
	}
	props := map[string]string{
		"email.host": host, "email.port": port, "email.useSsl": strconv.FormatBool(m.TLS != TLSOffered), "email.from": m.From,
	}
	if m.User != "" {
		props["email.username"], props["email.password"] = m.User, m.Password
	}
	var faults []error
	fault := func(name, reason string) {
		faults = append(faults, &job.FieldError{Field: "Props " + name, Value: cfg.Props[name], Reason: reason})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Props)) {
		value := cfg.Props[name]
		switch {
		case !strings.HasPrefix(name, "email.") || name == "email.debug":
		case reference.Is(value):
			fault(name, "must not be a reference, as it would be sent")
		case name == "email.subject":
			if strings.ContainsFunc(value, unicode.IsControl) {
				fault(name, "must be one line")
			}
			props[name] = value
		case name == "email.to", name == "email.cc", name == "email.bcc":
			to, err := m.recipients(value)
			if err != nil {
				fault(name, err.Error())
			}
			props[name] = to
		default:
			fault(name, "must not be there: on workers, a job has email.to, email.cc, email.bcc and email.subject, and the rest is the section mail of the worker's file")
		}
	}
	if strings.TrimSpace(cfg.Props["email.to"]) == "" {
		fault("email.to", "must not be empty")
	}
	return props, errors.Join(faults...)
}

// isMailbox matches the addresses that mean the same to everybody who reads them. Of others, such as one with a % or in
// quotes, some servers find another address in the first part.
var isMailbox = regexp.MustCompile(`^[A-Za-z0-9._+=~-]+@[A-Za-z0-9.-]+$`)

// recipients returns a list of addresses in the one way in which package email reads it as it was judged here.
func (m *Mail) recipients(list string) (string, error) {
	if strings.TrimSpace(list) == "" {
		return "", nil
	}
	parsed, err := netmail.ParseAddressList(list)
	if err != nil {
		return "", fmt.Errorf("must be addresses with commas between them: %w", err)
	}
	var all []string
	for _, a := range parsed {
		if !isMailbox.MatchString(a.Address) {
			return "", errors.New("must have plain addresses, such as ops@example.org")
		}
		if !m.mayGet(a.Address) {
			return "", fmt.Errorf("must be addresses that mail.to of this worker allows: %s", strings.Join(m.To, ", "))
		}
		all = append(all, "<"+a.Address+">")
	}
	return strings.Join(all, ", "), nil
}

func (m *Mail) mayGet(address string) bool {
	return slices.ContainsFunc(m.To, func(pattern string) bool {
		ok, _ := path.Match(strings.ToLower(pattern), strings.ToLower(address))
		return ok
	})
}
