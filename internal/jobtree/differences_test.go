package jobtree_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

func TestDifferencesShowValuesAndNoSecrets(t *testing.T) {
	t.Parallel()
	stored := job.NewConfig("orders", "0 0 * * * ?", 3)
	require.Empty(t, jobtree.Differences(stored, stored))
	declared := job.NewConfig("orders", "0 5 * * * ?", 3)
	declared.JobParameter = "swordfish"
	declared.Props = `{"email.password":"swordfish","email.host":"mail"}`
	declared.StartTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	declared.Overwrite = true
	require.Equal(t, []string{
		`cron: stored "0 0 * * * ?", declared "0 5 * * * ?"`,
		`jobParameter: stored "", declared "***"`,
		`startTime: stored "0001-01-01T00:00:00Z", declared "2030-01-02T03:04:05Z"`,
		`props: stored {}, declared {"email.host":"mail","email.password":"***"}`,
	}, jobtree.Differences(stored, declared))
}

// Whatever differs is told, and both ways of telling it agree.
func TestDifferencesTellEveryField(t *testing.T) {
	t.Parallel()
	standard := job.NewConfig("orders", "0 0 * * * ?", 3)
	for _, f := range settings() {
		for _, value := range triedValues(f.Type) {
			other := standard
			reflect.ValueOf(&other).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(value))
			require.Len(t, jobtree.Differences(standard, other), len(standard.Differences(other)), "%s: %v", f.Name, value)
		}
	}
}
