package rounds

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/missed"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
)

// An item that anything is known of is no blank one, whatever field says it.
func TestBlankItems(t *testing.T) {
	t.Parallel()
	require.True(t, (&item{number: 7}).blank())
	now := time.Now()
	for i := 1; i < reflect.TypeFor[item]().NumField(); i++ { // 0 is the number
		known := map[string]item{
			"running": {running: &executions.Execution{}}, "Item": {Item: missed.Item{Due: policy.Due{OnTime: now}}}, "early": {early: now}, "wake": {wake: now},
			"ignored": {ignored: now}, "wrote": {wrote: 1}, "triggered": {triggered: 1},
			"first": {first: fireFirst}, "queued": {queued: true}, "dozes": {dozes: true}, "permit": {permit: permitted},
		}
		name := reflect.TypeFor[item]().Field(i).Name
		it, listed := known[name]
		require.True(t, listed, name)
		require.False(t, it.blank(), name)
	}
}
