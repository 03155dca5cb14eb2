package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// A job of ElasticJob 3.x, whose settings are YAML, looks the same through a server that does not show secrets as on the
// registry itself, and none of its secrets is shown.
func TestAJobOfElasticJob3ThroughAServer(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	tree := jobtree.For("theirs")
	session, err := reg.Session(t.Context())
	require.NoError(t, err)
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(tree.Root(), "com.acme.Theirs"),
		registry.Put(tree.Config(), `cron: 0 0/5 * * * ?
description: of another house
disabled: false
failover: true
jobListenerTypes:
- PEER
jobName: theirs
jobParameter: geheim
maxTimeDiffSeconds: -1
misfire: true
monitorExecution: true
overwrite: false
props:
  db.password: geheim
reconcileIntervalMinutes: 10
shardingItemParameters: 0=geheim,1=geheim
shardingTotalCount: 2
staticSharding: false
`),
		registry.Put(tree.Server("10.0.0.1"), "ENABLED"),
		registry.PutOwned(tree.Instance(first), jobtree.ElasticJob3.EncodeInstance(first), session),
		registry.PutOwned(tree.Leader(), first, session),
		registry.Put(tree.ItemInstance(0), first), registry.Put(tree.ItemInstance(1), first),
	}})
	require.NoError(t, err)
	w.must(t, on("edit", "theirs", "--set", "cron=0 0/10 * * * ?", "--id", "ED1", "--yes")...)
	flags := w.withServer(t)
	for _, command := range [][]string{
		{"get", "jobs"},
		{"get", "jobs", "theirs", "-o", "yaml"},
		{"get", "items", "theirs", "-o", "json"},
		{"get", "operations", "theirs", "-o", "json"},
		{"describe", "job/theirs"},
		{"next", "theirs"},
		{"dump", "theirs"},
		{"edit", "theirs", "--set", "cron=0 0/15 * * * ?", "--dry-run"},
		{"disable", "job/theirs", "--dry-run"},
		{"trigger", "theirs", "--dry-run"},
	} {
		direct := w.must(t, on(command...)...)
		through := w.must(t, append(slices.Clone(command), flags...)...)
		require.Equal(t, withoutIncidents(direct), withoutIncidents(through), command)
		require.NotContains(t, through, "geheim", command)
	}
	rows := w.must(t, append([]string{"get", "jobs", "theirs"}, flags...)...)
	require.Regexp(t, `theirs +OK +2 `, rows)
	require.Contains(t, w.must(t, append([]string{"dump", "theirs"}, flags...)...), "description: of another house\n")
}
