package missed

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/scheduler/internal/policy"
)

// An item of whose fires anything is known is no blank one, whatever field says it.
func TestBlankItems(t *testing.T) {
	t.Parallel()
	require.True(t, (&Item{}).Blank())
	now := time.Now()
	for i := range reflect.TypeFor[Item]().NumField() {
		known := map[string]Item{
			"Due": {Due: policy.Due{OnTime: now}}, "seen": {seen: now}, "former": {former: "a"}, "came": {came: now},
		}
		name := reflect.TypeFor[Item]().Field(i).Name
		it, listed := known[name]
		require.True(t, listed, name)
		require.False(t, it.Blank(), name)
	}
}
