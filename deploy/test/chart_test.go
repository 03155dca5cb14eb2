package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// The smallest values that work.
const smallest = `
image: {repository: registry.example.org/elasticron, tag: v1}
registry: {etcd: ["https://e1:2379"], namespace: shop}
server: {usersSecret: users, sessionKeySecret: session}
worker: {config: {http: {allow: ["https://*.shop.internal"]}}}
`

// All that can be set and makes a difference.
const everything = `
image: {repository: registry.example.org/elasticron, tag: v1, digest: "sha256:` + digest + `", pullPolicy: Always, pullSecrets: [pull]}
registry:
  etcd: ["https://e1:2379", "https://e2:2379"]
  namespace: shop
  tls: {secret: etcd, clientCertificate: true}
  user: cron
  passwordSecret: etcd-password
server:
  replicas: 3
  namespaces: [shop, bank]
  usersSecret: users
  sessionKeySecret: session
  oidc: {issuer: "https://id.example.org", clientId: cron, redirectUrl: "https://cron.example.org/cron/oidc/callback", nameClaim: sub, groupsClaim: roles, secret: oidc}
  proxy: {from: [10.0.0.0/8, "fd00::1"], userHeader: X-User, groupsHeader: X-Groups}
  origins: ["https://a.example.org", "https://b.example.org"]
  prefix: /cron
  tlsSecret: tls
  verbose: true
  service: {type: LoadBalancer, port: 443, annotations: {a: b}}
  podDisruptionBudget: {maxUnavailable: 50%}
  serviceMonitor: {enabled: true, interval: 20s, labels: {release: prometheus}, tokenSecret: prometheus-token, serverName: cron.example.org, caSecret: own-ca}
  resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}
  serviceAccountName: console
  priorityClassName: high
  podAnnotations: {c: d}
  podLabels: {e: f}
  nodeSelector: {disk: ssd}
  tolerations: [{key: k, operator: Exists}]
  affinity: {nodeAffinity: {}}
worker:
  replicas: 5
  image: {repository: registry.example.org/jobs, tag: v2}
  graceSeconds: 600
  config:
    take: {jobs: ["orders-*"], labels: {zone: eu}}
    jobs: {missing: disable}
    script: {commands: [/opt/jobs/*], stop: 20s, directory: "/tmp/{job}/{item}"}
    http: {allow: ["*"], sign: {keys: ["file:/run/secrets/hmac/key"]}}
    mail: {server: "smtp.example.org:465", from: jobs@example.org, to: ["*@example.org"]}
    history: {file: /var/lib/elasticron/history.db, keep: 24h}
    log: {format: json}
    headStart: 100ms
  jobs: {orders-mail: {config: {jobType: SCRIPT, scriptCommandLine: /opt/jobs/mail, cron: "0 0/5 * * * ?", shardingTotalCount: 4}}}
  minReadySeconds: 200
  secrets: [hmac]
  stateSize: 2Gi
  podDisruptionBudget: {maxUnavailable: 2}
  serviceMonitor: {enabled: true, interval: 15s, labels: {release: prometheus}}
  podAnnotations: {g: h}
networkPolicy:
  serverFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress}}}]
  metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
  egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]
`

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// Values, and what comes out of them.
func TestWhatComesOutOfValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		values string
		holds  func(*testing.T, *rendered)
	}{
		"the smallest values": {smallest, func(t *testing.T, r *rendered) {
			require.Equal(t, []string{
				"configmap/cron-elasticron-worker", "deployment/cron-elasticron-server", "deployment/cron-elasticron-worker",
				"networkpolicy/cron-elasticron-server", "networkpolicy/cron-elasticron-worker",
				"pdb/cron-elasticron-server", "pdb/cron-elasticron-worker", "service/cron-elasticron-server",
			}, r.names())
			_, server := r.pod(t, "server")
			require.Equal(t, "registry.example.org/elasticron:v1", server.Image)
			require.Equal(t, []string{
				"server", "--listen=:8080", "--etcd=https://e1:2379", "--namespace=shop",
				"--users=/run/secrets/elasticron/users/users.yaml", "--session-key=/run/secrets/elasticron/session/session.key",
			}, server.Args)
			require.Empty(t, server.Env)
			pod, worker := r.pod(t, "worker")
			require.Equal(t, "registry.example.org/elasticron:v1", worker.Image)
			require.EqualValues(t, 105, *pod.TerminationGracePeriodSeconds)
			require.Zero(t, r.deployments["cron-elasticron-worker"].Spec.MinReadySeconds, "there are no files of jobs")
			require.YAMLEq(t, `
registry: {etcd: ["https://e1:2379"], namespace: shop}
http: {allow: ["https://*.shop.internal"]}
grace: 90s
listen: ":9090"
`, r.workerFile())
			require.EqualValues(t, 2, *r.deployments["cron-elasticron-server"].Spec.Replicas)
			require.EqualValues(t, 2, *r.deployments["cron-elasticron-worker"].Spec.Replicas)
			require.EqualValues(t, 80, r.services["cron-elasticron-server"].Spec.Ports[0].Port)
			require.NotNil(t, r.policies["cron-elasticron-server"].Spec.Ingress[0].From[0].PodSelector, "its own namespace")
			require.Empty(t, r.policies["cron-elasticron-worker"].Spec.Ingress, "nobody")
		}},
		"all values": {everything, func(t *testing.T, r *rendered) {
			require.Equal(t, []string{
				"configmap/cron-elasticron-jobs", "configmap/cron-elasticron-worker",
				"deployment/cron-elasticron-server", "deployment/cron-elasticron-worker",
				"networkpolicy/cron-elasticron-server", "networkpolicy/cron-elasticron-worker",
				"pdb/cron-elasticron-server", "pdb/cron-elasticron-worker",
				"service/cron-elasticron-server", "service/cron-elasticron-worker",
				"servicemonitor/cron-elasticron-server", "servicemonitor/cron-elasticron-worker",
			}, r.names())
			pod, server := r.pod(t, "server")
			require.Equal(t, "registry.example.org/elasticron@sha256:"+digest, server.Image)
			require.Equal(t, corev1.PullAlways, server.ImagePullPolicy)
			require.Equal(t, []string{
				"server", "--listen=:8080", "--etcd=https://e1:2379,https://e2:2379", "--namespace=shop,bank", "--user=cron",
				"--ca=/run/secrets/elasticron/registry/ca.crt", "--cert=/run/secrets/elasticron/registry/tls.crt", "--key=/run/secrets/elasticron/registry/tls.key",
				"--users=/run/secrets/elasticron/users/users.yaml", "--session-key=/run/secrets/elasticron/session/session.key",
				"--oidc-issuer=https://id.example.org", "--oidc-client-id=cron", "--oidc-redirect=https://cron.example.org/cron/oidc/callback",
				"--oidc-name-claim=sub", "--oidc-groups-claim=roles", "--oidc-secret-file=/run/secrets/elasticron/oidc/client-secret",
				"--proxy-from=10.0.0.0/8,fd00::1", "--proxy-user-header=X-User", "--proxy-groups-header=X-Groups",
				"--origin=https://a.example.org,https://b.example.org", "--prefix=/cron",
				"--tls-cert=/run/secrets/elasticron/tls/tls.crt", "--tls-key=/run/secrets/elasticron/tls/tls.key", "--verbose",
			}, server.Args)
			require.Equal(t, map[string]string{
				"oidc": "oidc", "password": "etcd-password", "registry": "etcd", "session": "session", "tls": "tls", "users": "users",
			}, secretsOf(pod))
			require.Equal(t, []corev1.EnvVar{{Name: "ELASTICRON_PASSWORD_FILE", Value: "/run/secrets/elasticron/password/password"}}, server.Env)
			require.Equal(t, "1Gi", server.Resources.Limits.Memory().String())
			require.Equal(t, "console", pod.ServiceAccountName)
			require.Equal(t, "high", pod.PriorityClassName)
			require.Equal(t, "pull", pod.ImagePullSecrets[0].Name)
			require.Equal(t, map[string]string{"disk": "ssd"}, pod.NodeSelector)
			require.Equal(t, corev1.TolerationOpExists, pod.Tolerations[0].Operator)
			require.NotNil(t, pod.Affinity.NodeAffinity)
			of := r.deployments["cron-elasticron-server"]
			require.EqualValues(t, 3, *of.Spec.Replicas)
			require.Equal(t, map[string]string{"c": "d"}, of.Spec.Template.Annotations)
			require.Equal(t, "f", of.Spec.Template.Labels["e"])
			service := r.services["cron-elasticron-server"]
			require.Equal(t, corev1.ServiceTypeLoadBalancer, service.Spec.Type)
			require.EqualValues(t, 443, service.Spec.Ports[0].Port)
			require.Equal(t, map[string]string{"a": "b"}, service.Annotations)
			require.Equal(t, intstr.FromString("50%"), *r.budgets["cron-elasticron-server"].Spec.MaxUnavailable)
			monitor := r.monitors["cron-elasticron-server"]
			require.Equal(t, "prometheus", monitor.Labels["release"])
			require.EqualValues(t, "https", *monitor.Spec.Endpoints[0].Scheme, "as operators of all versions spell it")
			credentials := func(secret, key string) corev1.SecretKeySelector {
				return corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key}
			}
			require.Equal(t, credentials("prometheus-token", "token"), *monitor.Spec.Endpoints[0].Authorization.Credentials)
			require.Equal(t, "cron.example.org", *monitor.Spec.Endpoints[0].TLSConfig.ServerName)
			require.Equal(t, credentials("own-ca", "ca.crt"), *monitor.Spec.Endpoints[0].TLSConfig.CA.Secret)
			require.EqualValues(t, "20s", monitor.Spec.Endpoints[0].Interval)
			require.Equal(t, "/metrics", monitor.Spec.Endpoints[0].Path)

			pod, worker := r.pod(t, "worker")
			require.Equal(t, "registry.example.org/jobs:v2", worker.Image)
			require.EqualValues(t, 615, *pod.TerminationGracePeriodSeconds)
			require.EqualValues(t, 200, r.deployments["cron-elasticron-worker"].Spec.MinReadySeconds, "old pods see new files of jobs before they go")
			require.Equal(t, map[string]string{"password": "etcd-password", "registry": "etcd", "secret-0": "hmac"}, secretsOf(pod))
			require.Contains(t, worker.VolumeMounts, corev1.VolumeMount{Name: "password", MountPath: "/run/secrets/elasticron/password", ReadOnly: true})
			require.Contains(t, worker.VolumeMounts, corev1.VolumeMount{Name: "secret-0", MountPath: "/run/secrets/hmac", ReadOnly: true})
			require.YAMLEq(t, `
registry:
  etcd: ["https://e1:2379", "https://e2:2379"]
  namespace: shop
  ca: /run/secrets/elasticron/registry/ca.crt
  cert: /run/secrets/elasticron/registry/tls.crt
  key: /run/secrets/elasticron/registry/tls.key
  user: cron
  password: file:/run/secrets/elasticron/password/password
take: {jobs: ["orders-*"], labels: {zone: eu}}
jobs: {directory: /etc/elasticron/jobs, owner: ops/cron-elasticron, missing: disable}
script: {commands: [/opt/jobs/*], stop: 20s, directory: "/tmp/{job}/{item}"}
http: {allow: ["*"], sign: {keys: ["file:/run/secrets/hmac/key"]}}
mail: {server: "smtp.example.org:465", from: jobs@example.org, to: ["*@example.org"]}
headStart: 100ms
history: {file: /var/lib/elasticron/history.db, keep: 24h}
grace: 600s
listen: ":9090"
log: {format: json}
`, r.workerFile())
			require.YAMLEq(t, `orders-mail: {config: {jobType: SCRIPT, scriptCommandLine: /opt/jobs/mail, cron: "0 0/5 * * * ?", shardingTotalCount: 4}}`,
				r.configMaps["cron-elasticron-jobs"].Data["jobs.yaml"])
			require.Equal(t, intstr.FromInt32(2), *r.budgets["cron-elasticron-worker"].Spec.MaxUnavailable)
			require.Equal(t, "h", r.deployments["cron-elasticron-worker"].Spec.Template.Annotations["g"])
			monitor = r.monitors["cron-elasticron-worker"]
			require.Equal(t, "prometheus", monitor.Labels["release"])
			require.EqualValues(t, "15s", monitor.Spec.Endpoints[0].Interval)
			require.Equal(t, "/metrics", monitor.Spec.Endpoints[0].Path)
			for _, part := range []string{"server", "worker"} {
				policy := r.policies["cron-elasticron-"+part].Spec
				require.Len(t, policy.PolicyTypes, 2)
				require.Len(t, policy.Ingress[0].From, map[string]int{"server": 2, "worker": 1}[part], "Prometheus reaches both")
				require.Equal(t, intstr.FromInt32(53), *policy.Egress[0].Ports[0].Port, "names")
				require.Equal(t, "10.0.0.0/8", policy.Egress[1].To[0].IPBlock.CIDR)
			}
		}},
		"one server, which may forget its logins": {smallest + `
server: {replicas: 1, usersSecret: users}
worker: {enabled: false}
`, func(t *testing.T, r *rendered) {
			require.Equal(t, []string{"deployment/cron-elasticron-server", "networkpolicy/cron-elasticron-server", "pdb/cron-elasticron-server", "service/cron-elasticron-server"}, r.names())
		}},
		"workers alone, as further ones": {smallest + "server: {enabled: false}\nnetworkPolicy: {enabled: false}\n", func(t *testing.T, r *rendered) {
			require.Equal(t, []string{"configmap/cron-elasticron-worker", "deployment/cron-elasticron-worker", "pdb/cron-elasticron-worker"}, r.names())
		}},
		"metrics of a console without TLS": {smallest + `
server: {usersSecret: users, sessionKeySecret: session, serviceMonitor: {enabled: true, tokenSecret: prometheus-token}}
networkPolicy: {enabled: false}
`, func(t *testing.T, r *rendered) {
			endpoint := r.monitors["cron-elasticron-server"].Spec.Endpoints[0]
			require.Nil(t, endpoint.Scheme, "HTTP")
			require.Nil(t, endpoint.TLSConfig)
			require.NotNil(t, endpoint.Authorization)
			require.EqualValues(t, "30s", endpoint.Interval)
		}},
		"a proxy that says who somebody is": {smallest + "server: {proxy: {from: [10.1.2.3], userHeader: X-User}}\n", func(t *testing.T, r *rendered) {
			_, server := r.pod(t, "server")
			require.Equal(t, []string{"--proxy-from=10.1.2.3", "--proxy-user-header=X-User"}, server.Args[4:])
			require.Empty(t, server.VolumeMounts)
		}},
		"ZooKeeper": {smallest + "registry: {zookeeper: [\"zk1:2181\", \"zk2:2181\"], namespace: shop}\n", func(t *testing.T, r *rendered) {
			_, server := r.pod(t, "server")
			require.Contains(t, server.Args, "--zookeeper=zk1:2181,zk2:2181")
			require.Contains(t, r.workerFile(), "zookeeper:\n  - zk1:2181\n")
		}},
		"jobs of a ConfigMap that is there": {smallest + "worker: {config: {http: {allow: [\"*\"]}, jobs: {owner: me}}, jobsConfigMap: mine}\n", func(t *testing.T, r *rendered) {
			pod, _ := r.pod(t, "worker")
			require.True(t, slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil && v.ConfigMap.Name == "mine" }))
			require.EqualValues(t, 150, r.deployments["cron-elasticron-worker"].Spec.MinReadySeconds)
			require.NotContains(t, r.configMaps, "cron-elasticron-jobs")
			require.Contains(t, r.workerFile(), "owner: me\n")
		}},
		"numbers stay numbers": {smallest + "worker: {graceSeconds: 86400, config: {script: {commands: [\"*\"], output: 1048576, stop: 5s}}, jobs: {a: {config: {cron: '@daily', shardingTotalCount: 1234567}}}}\n", func(t *testing.T, r *rendered) {
			require.Contains(t, r.workerFile(), "output: 1048576\n")
			require.Contains(t, r.workerFile(), "grace: 86400s\n")
			require.Contains(t, r.configMaps["cron-elasticron-jobs"].Data["jobs.yaml"], "shardingTotalCount: 1234567\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, merged(t, test.values))
			test.holds(t, r)
			r.isSafe(t)
			r.fitsTogether(t)
			if file := r.workerFile(); file != "" { // the program itself finds nothing wrong with it
				name := filepath.Join(t.TempDir(), "worker.yaml")
				require.NoError(t, os.WriteFile(name, []byte(file), 0o600))
				require.Equal(t, "The file is in order.\n", elasticron(t, "", "worker", "--config", name, "--check"))
			}
		})
	}
}

// Further variables come after those of the chart.
func TestFurtherVariables(t *testing.T) {
	t.Parallel()
	r := render(t, merged(t, smallest+`registry: {etcd: ["https://e1:2379"], namespace: shop, user: cron, passwordSecret: p}
server: {usersSecret: users, sessionKeySecret: session, env: [{name: GOMEMLIMIT, value: 450MiB}]}
worker: {config: {http: {}}, env: [{name: TZ, value: Europe/Berlin}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}
`))
	_, server := r.pod(t, "server")
	require.Equal(t, []corev1.EnvVar{{Name: "ELASTICRON_PASSWORD_FILE", Value: "/run/secrets/elasticron/password/password"}, {Name: "GOMEMLIMIT", Value: "450MiB"}}, server.Env)
	_, worker := r.pod(t, "worker")
	require.Equal(t, corev1.EnvVar{Name: "TZ", Value: "Europe/Berlin"}, worker.Env[0])
	require.Equal(t, "spec.nodeName", worker.Env[1].ValueFrom.FieldRef.FieldPath)
	_, err := template(merged(t, smallest+"worker: {config: {http: {}}, env: [{name: TZ, value: 1}]}\n"))
	require.ErrorContains(t, err, "/worker/env/0/value")
}

// merged lets what stands further down in a text of values stand in for whole members above it.
func merged(t *testing.T, values string) string {
	t.Helper()
	all := make(map[string]any)
	var block strings.Builder
	take := func() {
		var some map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(block.String()), &some))
		for name, value := range some {
			all[name] = value
		}
		block.Reset()
	}
	for line := range strings.Lines(values) {
		if !strings.HasPrefix(line, " ") {
			take()
		}
		block.WriteString(line)
	}
	take()
	text, err := yaml.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

// workerFile is the file of the workers; empty if there are none.
func (r *rendered) workerFile() string {
	if c := r.configMaps["cron-elasticron-worker"]; c != nil {
		return c.Data["worker.yaml"]
	}
	return ""
}

// secretsOf are the Secrets that come into a pod, by the names of their volumes.
func secretsOf(pod corev1.PodSpec) map[string]string {
	all := make(map[string]string)
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			all[v.Name] = v.Secret.SecretName
		}
	}
	return all
}

// A change of the workers' file makes other pods, and a change of jobs does not: workers read them as they change.
func TestWhatRestartsWorkers(t *testing.T) {
	t.Parallel()
	sum := func(more string) string {
		return render(t, merged(t, everything+more)).deployments["cron-elasticron-worker"].Spec.Template.Annotations["checksum/worker"]
	}
	worker := func(allow, cron string) string {
		return "worker: {config: {http: {allow: [" + allow + "]}}, jobs: {a: {config: {jobClass: HTTP, cron: '" + cron + "', shardingTotalCount: 1}}}}\n"
	}
	was := sum(worker(`"*"`, "@daily"))
	require.Len(t, was, 64)
	require.Equal(t, was, sum(worker(`"*"`, "@hourly")))
	require.NotEqual(t, was, sum(worker(`"https://a"`, "@daily")))
	require.NotEqual(t, was, sum(strings.Replace(worker(`"*"`, "@daily"), "{config:", "{graceSeconds: 7, config:", 1)))
	require.NotEqual(t, was, sum(worker(`"*"`, "@daily")+"registry: {etcd: [\"https://e9:2379\"], namespace: shop}\n"))
}

// Every flag that the chart may ever give exists.
func TestFlagsOfTheChartExist(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"server", "worker"} {
		text, err := os.ReadFile("../chart/templates/" + command + ".yaml")
		require.NoError(t, err)
		used := flagsIn(string(text))
		require.NotEmpty(t, used)
		require.Subset(t, flagsOf(t, command), used)
	}
}
