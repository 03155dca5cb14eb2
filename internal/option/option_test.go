package option_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/metrics/otel"
	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
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
