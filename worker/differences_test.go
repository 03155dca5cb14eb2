package worker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A reload names exactly the members that it does not change.
func TestWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	const whole = `
registry: {etcd: [a], namespace: shop}
jobs: {directory: /j, owner: x}
script: {commands: ['*'], memory: 64M}
http: {allow: ['*']}
`
	for change, want := range map[string][]string{
		whole: nil,
		whole + "take: {classes: [HTTP], jobs: [a], labels: {zone: eu}}\ngrace: 1m\n": nil,
		whole + "headStart: 0s\n": {"headStart"},
		whole + "listen: 'a:1'\nhistory: {file: /h, keep: 1h, outputs: 3}\nlog: {level: debug, format: json}\n": {"history.file", "history.keep", "history.outputs", "listen", "log.level", "log.format"},
		"registry: {zookeeper: [a], namespace: bank, user: u}\njobs: {directory: /k, owner: y, missing: remove, version: 3}\nscript: {commands: ['*'], memory: 64M}\nhttp: {allow: ['*']}\n": {
			"registry.etcd", "registry.zookeeper", "registry.namespace", "registry.user",
		},
		`
registry: {etcd: [a], namespace: shop}
jobs: {directory: /j, owner: x}
script: {commands: [/x], user: u, directory: /d, env: {pass: [A], files: [/e]}, memory: 1M, pids: 3, cpu: 1, stop: 1s, output: 1K, log: {directory: /l, size: 5K, files: 1}}
http: {allow: ['https://a'], networks: [10.0.0.0/8], secrets: ['env:A'], output: 1K, sign: {keys: ['env:K']}}
`: {"http.secrets"},
		`
registry: {etcd: [a], namespace: shop}
script: {commands: ['*'], memory: 1M, pids: 3, cgroup: /c}
`: {"jobs.directory", "jobs.owner", "script.memory", "script.pids", "script.cgroup", "http"},
	} {
		was, err := Parse([]byte(whole))
		require.NoError(t, err)
		now, err := Parse([]byte(change))
		require.NoError(t, err, change)
		require.ElementsMatch(t, want, was.needRestart(now), change)
	}
}
