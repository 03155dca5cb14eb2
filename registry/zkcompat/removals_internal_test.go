package zkcompat

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// Of two instances that are gone, the parent tells of the last one alone. So of neither is said what would set it apart from
// its mark.
func TestAParentTellsOfItsLastChildAlone(t *testing.T) {
	t.Parallel()
	var r removals
	was := func(session int64) znode { return znode{there: true, stat: zk.Stat{Czxid: 5, EphemeralOwner: session}} }
	require.Empty(t, r.note("/job/sharding/0/running", was(1), 0))
	require.Equal(t, []string{"/job/sharding/0", "/job/instances"}, r.note("/job/instances/a", was(1), 0))
	nodes := map[string]znode{
		"/job/sharding/0": {stat: zk.Stat{Pzxid: 11}}, "/job/sharding/1": {stat: zk.Stat{Pzxid: 12}}, "/job/instances": {stat: zk.Stat{Pzxid: 12}},
	}
	require.Equal(t, registry.Revision(12), r.of("/job/instances/a", nodes))
	require.Empty(t, r.note("/job/sharding/1/running", was(2), 0))
	r.note("/job/instances/b", was(2), 0)
	require.Zero(t, r.of("/job/instances/a", nodes))
	require.Zero(t, r.of("/job/instances/b", nodes))
	require.Equal(t, registry.Revision(11), r.of("/job/sharding/0/running", nodes))
	require.Zero(t, r.of("/job/none", nodes))
}
