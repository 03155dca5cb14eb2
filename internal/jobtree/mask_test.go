package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
)

func TestMaskHidesWhatMayBeSecret(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, value, want string }{
		{"/a/config", `{"jobName":"a","jobParameter":"k=1","cron":"0 * * * * ?"}`, `{"jobName":"a","jobParameter":"***","cron":"0 * * * * ?"}`},
		{"/a/config", `{ "scriptCommandLine" : "curl -u me:pass x" , "shardingItemParameters": "0=x"}`, `{ "scriptCommandLine" : "***" , "shardingItemParameters": "***"}`},
		{"/a/config", `{"jobParameter":"","overwrite":false}`, `{"jobParameter":"","overwrite":false}`},
		{
			"/a/config", `{"props":{"email.host":"h","email.password":"p","http.uri":"u","http.headers":"x","dingtalk.webhook":"w","api.key":"k"}}`,
			`{"props":{"email.host":"h","email.password":"***","http.uri":"***","http.headers":"***","dingtalk.webhook":"***","api.key":"***"}}`,
		},
		{"/a/config", `{"later":{"deeper":{"Secret":[1,2]}},"list":[{"password":"x"}],"plain":[1]}`, `{"later":{"deeper":{"Secret":"***"}},"list":"***","plain":[1]}`},
		{"/a/config", `{"token":12}`, `{"token":"***"}`},
		{"/a/config", "jobName: a\nscriptCommandLine: x\n", "***"},
		{"/a/config", "", ""},
		{"/a/sharding/0/record", `{"state":"idle","current":{"token":7,"error":"no such user: me"}}`, `{"state":"idle","current":{"token":7,"error":"***"}}`},
		{"/a/sharding/0/record", `{"current":{"trigger":7,"parameter":"k=1"}}`, `{"current":{"trigger":7,"parameter":"***"}}`},
		{"/a/triggered", `{"items":"0","parameter":"k=1"}`, `{"items":"0","parameter":"***"}`},
		{"/a/operated", `{"operations":[{"before":"{}"}]}`, "***"},
		{"/a/offset/0", "row 17", "***"},
		{"/a/sharding/0/instance", "10.0.0.1@-@7", "10.0.0.1@-@7"},
		{"/a/leader/election/instance", "10.0.0.1@-@7", "10.0.0.1@-@7"},
		{"/elsewhere", "x", "x"},
	} {
		require.Equal(t, test.want, jobtree.Mask(test.path, test.value), "%s %s", test.path, test.value)
	}
}
