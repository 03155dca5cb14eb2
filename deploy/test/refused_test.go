package test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Values that are not allowed are refused, and the error says which and what is allowed.
func TestValuesThatAreRefused(t *testing.T) {
	t.Parallel()
	for values, wants := range map[string][]string{
		// By the schema.
		"servr: {}":                                           {"servr"},
		"server: {replica: 2}":                                {"server", "replica"},
		"server: {replicas: 0}":                               {"/server/replicas", "minimum: got 0, want 1"},
		"server: {replicas: two}":                             {"/server/replicas", "got string, want integer"},
		"server: {prefix: cron}":                              {"/server/prefix", "'cron' does not match pattern"},
		"server: {service: {port: 70000}}":                    {"/server/service/port", "maximum: got 70,000, want 65,535"},
		"server: {service: {type: Both}}":                     {"/server/service/type", "'ClusterIP', 'NodePort', 'LoadBalancer'"},
		"server: {usersSecret: Anna/pw}":                      {"/server/usersSecret", "does not match pattern"},
		"server: {podDisruptionBudget: {maxUnavailable: 0}}":  {"/server/podDisruptionBudget/maxUnavailable", "minimum: got 0, want 1"},
		"server: {oidc: {redirectUrl: 'https://x/callback'}}": {"/server/oidc/redirectUrl", "/oidc/callback"},
		"registry: {etcd: ['e1:2379']}":                       {"/registry/etcd/0", "'e1:2379' does not match pattern"},
		"registry: {etcd: 'https://e1:2379'}":                 {"/registry/etcd", "got string, want array"},
		"registry: {password: secret}":                        {"/registry", "'password' not allowed"},
		"image: {digest: 'sha256:1'}":                         {"/image/digest", "does not match pattern"},
		"server: {replicas: null, usersSecret: users}":        {"server.sessionKeySecret is missing: want it with server.replicas null"},
		"worker: {graceSeconds: 90s}":                         {"/worker/graceSeconds", "got string, want integer"},
		"worker: {config: {grace: 90s}}":                      {"/worker/config", "'grace' not allowed"},
		"worker: {config: {registry: {}}}":                    {"/worker/config", "'registry' not allowed"},
		"worker: {config: {jobs: {directory: /x}}}":           {"/worker/config/jobs", "'directory' not allowed"},
		"worker: {config: {jobs: {missing: forget}}}":         {"/worker/config/jobs/missing", "'keep', 'disable', 'remove'"},
		"worker: {jobs: {a: {cron: '@daily'}}}":               {"/worker/jobs/a", "missing property 'config'"},
		"worker: {secrets: [a, b, a]}":                        {"/worker/secrets", "items at 0 and 2 are equal"},
		"worker: {podLabels: {app.kubernetes.io/name: x}}":    {"/worker/podLabels/app.kubernetes.io~1name"},
		"server: {podLabels: {app.kubernetes.io/name: x}}":    {"/server/podLabels/app.kubernetes.io~1name"},
		"worker: {podAnnotations: {checksum/worker: x}}":      {"/worker/podAnnotations/checksum~1worker"},
		"worker: {stateSize: 1 GB}":                           {"/worker/stateSize", "does not match pattern"},
		"networkPolicy: {metricsFrom: monitoring}":            {"/networkPolicy/metricsFrom", "got string, want array"},
		// By what belongs together. All faults are told at once.
		"image: {}\nregistry: {}": {
			"image.repository is missing", "image.tag is missing: want a tag, or image.digest",
			"registry.etcd is missing", "registry.namespace is missing",
		},
		"registry: {etcd: ['https://e'], zookeeper: ['z:1'], namespace: shop}":             {"registry.etcd and registry.zookeeper are given: want one of them"},
		"registry: {etcd: ['https://e'], namespace: shop, user: cron}":                     {`registry.passwordSecret is missing`, `"cron"`},
		"registry: {etcd: ['https://e'], namespace: shop, passwordSecret: p}":              {"registry.user is missing"},
		"registry: {etcd: ['https://e'], namespace: shop, tls: {clientCertificate: true}}": {"registry.tls.secret is missing"},
		"server: {sessionKeySecret: session}":                                              {"server.usersSecret is missing: want it, server.oidc.issuer or server.proxy.userHeader"},
		"server: {usersSecret: users}":                                                     {"server.sessionKeySecret is missing: want it with server.replicas 2"},
		"server: {replicas: 1, oidc: {issuer: 'https://id'}}":                              {"server.oidc.clientId or server.oidc.redirectUrl is missing"},
		"server: {replicas: 1, usersSecret: u, oidc: {clientId: x}}":                       {"server.oidc.issuer is missing"},
		"server: {proxy: {userHeader: X}}":                                                 {"server.proxy.from is missing"},
		"server: {replicas: 1, usersSecret: u, serviceMonitor: {enabled: true}}": {
			"server.serviceMonitor.tokenSecret is missing", "networkPolicy.metricsFrom is missing: want the peers of Prometheus with server.serviceMonitor.enabled",
		},
		"server: {oidc: {issuer: 'https://id', clientId: x, redirectUrl: 'https://x/oidc/callback'}, serviceMonitor: {enabled: true, tokenSecret: t}}": {"server.usersSecret is missing: want it with server.serviceMonitor.enabled"},
		"server: {replicas: 1, usersSecret: u, tlsSecret: t, serviceMonitor: {enabled: true, tokenSecret: t}}":                                         {"server.serviceMonitor.serverName is missing"},
		"server: {replicas: 1, usersSecret: u, serviceMonitor: {serverName: x}}":                                                                       {"server.tlsSecret is missing: want it with server.serviceMonitor.serverName"},
		"server: {serviceMonitor: {enabled: true, interval: soon}}":                                                                                    {"/server/serviceMonitor/interval", "does not match pattern"},
		"worker: {}": {"worker.config has neither script nor http"},
		"worker: {config: {http: {}, jobs: {owner: x}}}":                          {"worker.config.jobs is given without worker.jobs", "disable or remove that job by hand"},
		"worker: {config: {http: {}}, jobs: {a: {config: {}}}, jobsConfigMap: b}": {"worker.jobs and worker.jobsConfigMap are given"},
		"worker: {graceSeconds: 5, config: {script: {}}}":                         {"worker.graceSeconds is 5: want more than worker.config.script.stop, which is 5s"},
		"worker: {config: {script: {stop: 1m30s}}}":                               {"worker.graceSeconds is 90: want more than worker.config.script.stop, which is 1m30s"},
		"worker: {graceSeconds: 3, config: {script: {stop: 3500ms}}}":             {"worker.graceSeconds is 3", "3500ms"},
		"worker: {config: {http: {}}, secrets: [elasticron]}":                     {"worker.secrets names elasticron"},
		"worker: {config: {http: {}}, image: {repository: x}}":                    {"worker.image.tag is missing"},
		"worker: {config: {http: {}}, image: {tag: x}}":                           {"worker.image.repository is missing"},
		"worker: {config: {http: {}}, serviceMonitor: {enabled: true}}":           {"networkPolicy.metricsFrom is missing"},
		"server: {enabled: false}\nworker: {enabled: false}":                      {"server.enabled and worker.enabled are false"},
	} {
		_, err := template(merged(t, smallest+values+"\n"))
		require.Error(t, err, values)
		for _, want := range wants {
			require.ErrorContains(t, err, want, values)
		}
	}
}

// A grace above script.stop is allowed, by however little it is above.
func TestGracesThatLeaveTimeToStop(t *testing.T) {
	t.Parallel()
	for _, values := range []string{
		"worker: {graceSeconds: 6, config: {script: {}}}",
		"worker: {graceSeconds: 91, config: {script: {stop: 1m30s}}}",
		"worker: {graceSeconds: 4, config: {script: {stop: 3500ms}}}",
		"worker: {graceSeconds: 1, config: {http: {}}}",
		"worker: {config: {script: {stop: soon}}}", // which no template can read
	} {
		_, err := template(merged(t, smallest+values+"\n"))
		require.NoError(t, err, values)
	}
}

// The schema knows the members that values.yaml has, and no others.
func TestTheSchemaKnowsAllValues(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../chart/values.yaml")
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, yaml.UnmarshalStrict(text, &values))
	text, err = os.ReadFile("../chart/values.schema.json")
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	delete(schema["properties"].(map[string]any), "global") // which Helm adds
	compared := 0
	var compare func(at string, values, schema map[string]any)
	compare = func(at string, values, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		if len(properties) == 0 || at == ".worker.config" {
			return
		}
		require.Equal(t, false, schema["additionalProperties"], at)
		require.ElementsMatch(t, keys(properties), keys(values), at)
		compared++
		for name, value := range values {
			if below, is := value.(map[string]any); is {
				compare(at+"."+name, below, properties[name].(map[string]any))
			}
		}
	}
	compare("", values, schema)
	require.Greater(t, compared, 8)
}

func keys(of map[string]any) (all []string) {
	for name := range of {
		all = append(all, name)
	}
	return all
}
