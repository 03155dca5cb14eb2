package option_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/dump"
	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob/callback"
	"github.com/elasticron/elasticron/metrics/otel"
	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// Whoever asks for an option that is not allowed finds it by the name that any package gives it.
func TestOneErrorOfOptions(t *testing.T) {
	t.Parallel()
	_, scheduled := scheduler.New(nil)
	_, parsed := cronexpr.ParseDaylightSaving("java")
	_, bus := history.NewBus(history.WithLogger(nil))
	_, store := sqlstore.New(nil, sqlstore.SQLite)
	_, counted := prometheus.New(prometheus.WithItems(-1))
	_, traced := otel.New(otel.WithTracerProvider(nil))
	_, migrated := migrate.Run(t.Context(), nil, nil, migrate.Options{TimeZone: "Local"})
	_, server := embedded.Start(t.Context(), embedded.WithDir(""))
	for _, err := range []error{scheduled, parsed, bus, store, counted, traced, migrated, server} {
		for _, name := range []error{
			scheduler.ErrInvalidOption, cronexpr.ErrInvalidOption, history.ErrInvalidOption, sqlstore.ErrInvalidOption,
			prometheus.ErrInvalidOption, otel.ErrInvalidOption, migrate.ErrInvalidOption, embedded.ErrInvalidOption,
		} {
			require.ErrorIs(t, err, name)
		}
	}
}

// A nil option is refused wherever options are taken, and whatever is wrong besides is said, too.
func TestNilOptionsAreRefused(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	cfg := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 1}
	code := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	handle, err := s.Add(t.Context(), cfg, code)
	require.NoError(t, err)
	cfg.Name = "others"
	for name, take := range map[string]func() error{
		"scheduler": func() error { return errOf(scheduler.New(reg, nil)) },
		"add":       func() error { return errOf(s.Add(t.Context(), cfg, code, nil)) },
		"trigger":   func() error { return errOf(handle.Trigger(t.Context(), nil)) },
		"update":    func() error { return handle.Update(t.Context(), nil) },
		"handler":   func() error { return errOf(scheduler.New(reg, scheduler.WithHandler("a", job.HandlerFunc(nil)))) },
		"cron":      func() error { return errOf(cronexpr.Parse("@every 5m", nil)) },
		"bus":       func() error { return errOf(history.NewBus(nil)) },
		"sink": func() error {
			return errOf(history.NewBus(history.WithSink("log", history.NewLogSink(slog.Default()), nil)))
		},
		"store":         func() error { return errOf(sqlstore.New(nil, sqlstore.SQLite, nil)) },
		"prometheus":    func() error { return errOf(prometheus.New(nil)) },
		"opentelemetry": func() error { return errOf(otel.New(nil)) },
		"dump":          func() error { return errOf(dump.Listen(s, "127.0.0.1:0", nil)) },
		"verifier":      func() error { return errOf(callback.NewVerifier([][]byte{make([]byte, 64)}, nil)) },
		"operator":      func() error { return errOf(operate.New(reg, operate.By("somebody", "a test"), nil)) },
		"federation":    func() error { return errOf(federation.New("a", nil, nil)) },
		"etcd":          func() error { return errOf(embedded.Start(t.Context(), nil)) },
		"memory":        func() error { return panicOf(func() { memory.NewServer(nil) }) },
		"memory handle": func() error { return panicOf(func() { memory.NewServer().Open("test", nil) }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := take()
			require.ErrorIs(t, err, scheduler.ErrInvalidOption)
			require.ErrorContains(t, err, "nil")
		})
	}
}

func errOf[T any](_ T, err error) error { return err }

func panicOf(code func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	code()
	return nil
}
