package jobtree_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
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
		{
			"/a/config", " { \"a\" : { \"deep\" : { \"b\" : [ 1 , 2 ] , \"api.key\" : { \"x\" : {} } , \"url\" : \"\" } , \"c\" : [ {} ] } , \"d\" : null } \n",
			" { \"a\" : { \"deep\" : { \"b\" : [ 1 , 2 ] , \"api.key\" : \"***\" , \"url\" : \"\" } , \"c\" : \"***\" } , \"d\" : null } \n",
		},
		{"/a/config", `{"p\u0061ssword":{"a":1},"escaped":"\"password\":"}`, `{"p\u0061ssword":"***","escaped":"\"password\":"}`},
		{"/a/config", `{"token":12}`, `{"token":"***"}`},
		{"/a/config", "jobName: a\nscriptCommandLine: x\n", "jobName: a\nscriptCommandLine: '***'\n"},
		{"/a/config", "name: a\npassword: x\n", "***"},
		{"/a/config", "", ""},
		{"/a/config", `{"home":"b","move":"M","config":"{\"jobParameter\":\"k=1\"}"}`, `{"home":"b","move":"M","config":"***"}`},
		{"/a/sharding/0/record", `{"state":"idle","current":{"token":7,"error":"no such user: me"}}`, `{"state":"idle","current":{"token":7,"error":"***"}}`},
		{"/a/sharding/0/record", `{"current":{"trigger":7,"parameter":"k=1"}}`, `{"current":{"trigger":7,"parameter":"***"}}`},
		{"/a/triggered", `{"items":"0","parameter":"k=1"}`, `{"items":"0","parameter":"***"}`},
		{"/a/operated", `{"operations":[{"before":"{}"}]}`, "***"},
		{"/a/offset/0", "row 17", "***"},
		{"/a/sharding/0/instance", "10.0.0.1@-@7", "10.0.0.1@-@7"},
		{"/a/leader/election/instance", "10.0.0.1@-@7", "10.0.0.1@-@7"},
		{
			"/a/leader/move", `{"id":"M","state":"moved","who":"anna","config":"{\"jobParameter\":\"k=1\"}","servers":{"10.0.0.1":""},"lost":{"1":"{\"error\":\"x\"}"}}`,
			`{"id":"M","state":"moved","who":"anna","config":"***","servers":{"10.0.0.1":""},"lost":"***"}`,
		},
		{"/a/leader/move", "k=1", "***"},
		{"/elsewhere", "x", "x"},
	} {
		require.Equal(t, test.want, jobtree.Mask(test.path, test.value), "%s %s", test.path, test.value)
	}
}

// A config is masked for everybody who reads a list, and whoever may write one job decides how deep its objects stand in each
// other. Masking takes about as long as to see whether the text is JSON, which it was when it was stored.
func TestMaskTakesNoLongerForADeepObject(t *testing.T) {
	t.Parallel()
	const depth = 9000 // encoding/json takes 10,000
	deep := func(inner string) string {
		return `{"jobName":"a","x":` + strings.Repeat(`{"a":`, depth) + inner + strings.Repeat("}", depth) + `}`
	}
	text := deep(`{"password":"x","text":"` + strings.Repeat("y", 100<<10) + `"}`)
	valid, masked := time.Hour, time.Hour
	for range 3 {
		begun := time.Now()
		require.True(t, json.Valid([]byte(text)))
		valid = min(valid, time.Since(begun))
		begun = time.Now()
		require.Len(t, jobtree.Mask("/a/config", text), len(text)+len(jobtree.Hidden)-len("x"))
		masked = min(masked, time.Since(begun))
	}
	require.Less(t, masked, 200*valid)
	require.Equal(t, deep(`{"password":"***","b":1}`), jobtree.Mask("/a/config", deep(`{"password":"x","b":1}`)))
}

// Who operates sees what is not secret, also where a judgement depends on it; and hiding the rest afterwards shows no more
// and no less than hiding it at once.
func TestMaskSecrets(t *testing.T) {
	t.Parallel()
	mask := func(path, value string) string {
		return jobtree.MaskSecrets(registry.Node{Path: path, Value: value}).Value
	}
	for _, test := range []struct{ path, value, want string }{
		{"/a/config", `{"jobName":"a","jobParameter":"k=1","shardingItemParameters":" 1=x, 0=y"}`, `{"jobName":"a","jobParameter":"***","shardingItemParameters":"0=***,1=***"}`},
		{"/a/config", `{"shardingItemParameters":"wrong"}`, `{"shardingItemParameters":"***"}`},
		{"/a/config", `{"props":{"email.password":"p"},"shardingItemParameters":""}`, `{"props":{"email.password":"***"},"shardingItemParameters":""}`},
		{"/a/config", "{", "***"},
		{"/a/config", `{"home":"b","move":"M","config":"{\"jobParameter\":\"k=1\"}"}`, `{"home":"b","move":"M","config":"***"}`},
		{"/a/config", `{"home":"b"}`, `{"home":"b"}`},
		{"/a/sharding/0/record", `{"current":{"error":"exit 3","parameter":"k=1"}}`, `{"current":{"error":"exit 3","parameter":"***"}}`},
		{"/a/triggered", `{"items":"0","parameter":"k=1"}`, `{"items":"0","parameter":"***"}`},
		{"/a/operated", "{", "***"},
		{"/a/offset/0", "row 17", "***"},
		{"/a/sharding/0/instance", "10.0.0.1@-@7", "10.0.0.1@-@7"},
		{"/a/leader/move", `{"id":"M","state":"drained","config":"jobParameter: k=1\n","lost":{"1":"{}"}}`, `{"id":"M","state":"drained","config":"***","lost":"***"}`},
		{"/a/leader/move", "k=1", "***"},
		{"/elsewhere", "x", "x"},
	} {
		require.Equal(t, test.want, mask(test.path, test.value))
		require.Equal(t, jobtree.Mask(test.path, test.value), jobtree.Mask(test.path, mask(test.path, test.value)))
	}
	before := jobtree.Operated{Operations: []jobtree.Operation{{ID: "x", Verb: "change settings", Who: "anna", Before: `{"cron":"@daily","jobParameter":"k=1"}`}}}
	after, err := jobtree.DecodeOperated(registry.Node{Path: "/a/operated", Value: mask("/a/operated", jobtree.EncodeOperated(before))})
	require.NoError(t, err)
	require.Equal(t, `{"cron":"@daily","jobParameter":"***"}`, after.Operations[0].Before)
	require.Equal(t, "anna", after.Operations[0].Who)
}

// What cannot be read of a move is not quoted, as it may hold a configuration.
func TestAMoveThatCannotBeReadIsNotQuoted(t *testing.T) {
	t.Parallel()
	const broken = `{"id":"M","config":"password=geheim"`
	_, err := jobtree.DecodeMove(registry.Node{Path: "/a/leader/move", Value: broken, Revision: 1})
	require.EqualError(t, err, fmt.Sprintf("/a/leader/move cannot be read: its %d bytes are no JSON object with an id", len(broken)))
	_, err = jobtree.DecodeMove(registry.Node{Path: "/a/leader/move", Value: `{"state":"moved"}`, Revision: 1})
	require.ErrorContains(t, err, "17 bytes")
}
