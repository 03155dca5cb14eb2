package migrate_test

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/migrate"
)

// A node that this user may not read costs the job that it belongs to, by name, and no other.
func TestANodeOfAnotherUserCostsOneJob(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]struct {
		path   string
		denied bool
	}{
		"the job":        {"/secret_job", true},
		"its config":     {"/secret_job/config", true},
		"an item":        {"/secret_job/sharding/1", true},
		"beyond a job's": {"/secret_job/other/node", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := unique("acl")
			j := newJava(t, shared(t), "")
			for _, job := range []string{"order_job", "secret_job", "zoo_job"} {
				j.has(tree2(ns, job, strings.Replace(config2, "order_job", job, 1))...)
			}
			j.has("/"+ns+place.path, "")
			_, err := j.conn.SetACL("/"+ns+place.path, zk.DigestACL(zk.PermAll, "other", "secret"), -1)
			require.NoError(t, err)
			done := command(t, nil, "migrate", "--from", j.server.Address(), "--to", strings.Join(target.Endpoints(), ","),
				"--namespace", ns, "--apply", "--json")
			jobs := done.report(t)
			require.Equal(t, migrate.Created, jobs["order_job"].Action)
			require.Equal(t, migrate.Created, jobs["zoo_job"].Action)
			require.Equal(t, migrate.Refused, jobs["secret_job"].Action)
			require.Contains(t, jobs["secret_job"].Reason, "denied")
			require.Contains(t, jobs["secret_job"].Reason, "/secret_job")
		})
	}
}
