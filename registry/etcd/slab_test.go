package etcd

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// A request of many commits takes the room that it needs, and nothing is left over.
func TestARequestWastesNoRoom(t *testing.T) {
	t.Parallel()
	for name, commits := range map[string]int{"one": 1, "a group": 10, "groups": 25} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRequestBuilder(false, newFootprint())
			for i := range commits {
				of := fmt.Sprintf("/job-%d", i/10)
				item := fmt.Sprintf("%s/sharding/%d", of, i)
				require.True(t, b.add(commitOf(registry.Txn{
					If: []registry.Condition{
						registry.Unchanged(item+"/instance", 7), registry.Unchanged(item+"/next", 0), registry.Absent(item + "/disabled"),
						registry.Unchanged(of+"/config", 5), registry.CreatedAt(of+"/instances/a", 6),
					},
					Then: []registry.Write{
						registry.Put(item+"/record", "{}"), registry.Update(item+"/offset", "12"), registry.Delete(item + "/misfire"),
					},
				}, false)))
			}
			e := &encoder{n: "/ns"}
			e.reserve(b.groups)
			e.request(b.groups)
			require.Empty(t, e.text.free, "of keys and values")
			require.Empty(t, e.compares.free)
			require.Empty(t, e.listed.free)
			require.Empty(t, e.ops.free)
			require.Empty(t, e.opsOf.free)
			require.Empty(t, e.puts.free)
			require.Empty(t, e.putOps.free)
			require.Empty(t, e.txns.free)
			require.Zero(t, e.compares.size+e.text.size+e.puts.size, "nothing grew by itself")
		})
	}
}
