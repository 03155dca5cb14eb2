package worker

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
)

// What a job says of mail is who of those gets it that the file allows, and the subject.
func TestMailIsWhatTheFileAllows(t *testing.T) {
	t.Setenv("ALERTS_PASSWORD", "swordfish")
	m := &Mail{
		Server: "smtp.shop.internal:587", TLS: TLSOffered, User: "jobs", Password: "env:ALERTS_PASSWORD", From: "jobs@shop.example",
		To: []string{"*@shop.example", "boss@elsewhere.example"},
	}
	props, err := m.props(job.Config{Props: map[string]string{
		"email.to": "Ops <Ops@Shop.example>, boss@elsewhere.example", "email.subject": "it failed", "email.cc": "", "other": "file:/etc/passwd",
	}})
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"email.host": "smtp.shop.internal", "email.port": "587", "email.useSsl": "false", "email.username": "jobs", "email.password": "env:ALERTS_PASSWORD",
		"email.from": "jobs@shop.example", "email.to": "<Ops@Shop.example>, <boss@elsewhere.example>", "email.cc": "", "email.subject": "it failed",
	}, props)
	handlers, err := handlersOf(File{Mail: m}, nil)
	require.NoError(t, err)
	judge := func(props map[string]string) error {
		_, err := handlers.New(job.Config{Name: "a", ErrorHandler: "EMAIL", Props: props}, slog.New(slog.DiscardHandler))
		return err
	}
	require.NoError(t, judge(map[string]string{"email.to": "ops@shop.example", "email.bcc": "a@shop.example,b@shop.example"}))
	for text, props := range map[string]map[string]string{
		`Props email.to "" must not be empty`:                                    {},
		`Props email.host "evil.example" must not be there`:                      {"email.to": "ops@shop.example", "email.host": "evil.example"},
		`Props email.ssl.trust "*" must not be there`:                            {"email.to": "ops@shop.example", "email.ssl.trust": "*"},
		`Props email.cc "x@evil.example" must be addresses that mail.to of`:      {"email.to": "ops@shop.example", "email.cc": "x@evil.example"},
		`Props email.bcc "x@notshop.example" must be addresses that`:             {"email.to": "ops@shop.example", "email.bcc": "x@notshop.example"},
		`Props email.to "ops@shop.example, x@evil.example" must be addresses`:    {"email.to": "ops@shop.example, x@evil.example"},
		`"x%evil.example@shop.example" must have plain addresses`:                {"email.to": "x%evil.example@shop.example"},
		`@evil.example\"@shop.example" must have plain addresses`:                {"email.to": `"x@evil.example"@shop.example`},
		`Props email.to "env:ALERTS_PASSWORD" must not be a reference`:           {"email.to": "env:ALERTS_PASSWORD"},
		`Props email.subject "env:ALERTS_PASSWORD" must not be a reference`:      {"email.to": "ops@shop.example", "email.subject": "env:ALERTS_PASSWORD"},
		`Props email.subject "a\r\nBcc: x@evil.example" must be one line`:        {"email.to": "ops@shop.example", "email.subject": "a\r\nBcc: x@evil.example"},
		`Props email.to "Ops: x@evil.example;" must be addresses that`:           {"email.to": "Ops: x@evil.example;"},
		`Props email.to "ops@shop.example y@evil.example" must be addresses wit`: {"email.to": "ops@shop.example y@evil.example"},
	} {
		require.ErrorContains(t, judge(props), text)
	}
	none, err := handlersOf(File{}, nil)
	require.NoError(t, err)
	for _, name := range []string{"EMAIL", "WEBHOOK", "WECHAT", "DINGTALK"} {
		_, err := none.New(job.Config{ErrorHandler: name}, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, "which says where failures may be told, and is not there")
	}
	for _, name := range []string{"", errorhandler.Log, errorhandler.Ignore, errorhandler.Throw} {
		_, err := none.New(job.Config{ErrorHandler: name}, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
	}
}
