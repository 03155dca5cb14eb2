package worker_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/worker"
)

func TestAWholeFile(t *testing.T) {
	t.Parallel()
	file, err := worker.Parse([]byte(documented(t)))
	require.NoError(t, err)
	require.Equal(t, []string{"https://e1:2379"}, file.Registry.Etcd)
	require.Equal(t, worker.Size(512<<20), file.Script.Memory)
	require.Equal(t, worker.Duration(90*time.Second), file.Grace)
	require.Equal(t, new(worker.Duration), file.HeadStart)
	require.InDelta(t, 1.5, file.Script.CPU, 0)
	require.Equal(t, int64(42), file.Jobs.Version)
	require.Equal(t, map[string]string{"zone": "eu"}, file.Take.Labels)
}

// documented is the file in the package documentation, without two of the three kinds of registry.
func documented(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	var text strings.Builder
	for line := range strings.Lines(string(source)) {
		member, shown := strings.CutPrefix(line, "//\t")
		if text.Len() == 0 && !strings.HasPrefix(member, "registry:") {
			continue
		}
		if other := strings.HasPrefix(member, "  zookeeper:") || strings.HasPrefix(member, "  embedded:"); shown && !other {
			text.WriteString(member)
		}
	}
	return text.String()
}

// Programs that write YAML, such as Helm, write large numbers so.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	file, err := worker.Parse([]byte("script: {commands: ['*'], pids: 64.0}\njobs: {directory: /j, version: 2.0260101e+07}\n"))
	require.NoError(t, err)
	require.Equal(t, 64, file.Script.Pids)
	require.Equal(t, int64(20260101), file.Jobs.Version)
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	file, err := worker.Parse([]byte("script: {commands: ['*']}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{worker.ClassScript}, file.Take.Classes)
	require.Equal(t, worker.Duration(worker.DefaultGrace), file.Grace)
	require.Equal(t, worker.Duration(worker.DefaultStop), file.Script.Stop)
	require.Equal(t, worker.Size(worker.DefaultOutput), file.Script.Output)
	require.Equal(t, worker.MissingKeep, file.Jobs.Missing)
	require.Equal(t, worker.DefaultAddress, file.Registry.Address)
	file, err = worker.Parse([]byte("script: {commands: ['*']}\nhttp: {allow: ['*']}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{worker.ClassScript, worker.ClassHTTP}, file.Take.Classes)
	require.Equal(t, worker.Size(worker.DefaultOutput), file.HTTP.Output)
	require.Equal(t, worker.DefaultOutputs, file.History.Outputs)
}

// Every fault names the member, its value and what is allowed.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	const script = "script: {commands: ['*']}\n"
	for text, want := range map[string]string{
		"":                         "the file is empty",
		"a: [":                     "invalid worker file: yaml: line 1",
		"[]":                       `must be a mapping of registry, take, jobs`,
		script + "---\n" + script:  "more than one YAML document",
		"grcae: 90s\n":             `line 1: grcae "90s" is no member: want one of registry, take, jobs, script, http`,
		script + "grace: 90\n":     `grace "90" must be a duration such as 90s`,
		script + "grace: -1s\n":    `grace "-1s" must be above 0`,
		script + "headStart: 1s\n": `headStart "1s" must be from 0s to 200ms`,
		"script: {commands: ['*'], memory: 1T}\n":        `script.memory "1T" must be a number of bytes, such as 65536, 64K`,
		"script: {commands: ['*'], memory: 1}\n":         `script.memory "1" must be 0, which is no limit, or at least 1M`,
		"script: {commands: ['*'], pids: x}\n":           `script.pids "x" must be a whole number`,
		"script: {commands: ['*'], pids: 0.5}\n":         `script.pids "0.5" must be a whole number`,
		"script: {commands: ['*'], pids: 010}\n":         `script.pids "010" must not begin with 0`,
		"script: {commands: ['*'], cpu: 010}\n":          `script.cpu "010" must not begin with 0`,
		"jobs: {directory: /j, version: 1.5}\n" + script: `jobs.version "1.5" must be a whole number`,
		"history: {outputs: 99.5}\n" + script:            `history.outputs "99.5" must be a whole number`,
		"script: {commands: ['*'], pids: -.inf}\n":       `script.pids "-.inf" must be a whole number`,
		"script: {commands: ['*'], cpu: 0.001}\n":        `script.cpu "0.001" must be 0, which is no limit, or 0.01`,
		"script: {commands: ['*'], stop: 30s}\n":         `script.stop "30s" must be above 0 and less than grace, which is 30s`,
		"script: {commands: ['*'], output: 2M}\n":        `script.output "2097152" must be at most 1M`,
		"script: {commands: /bin/sh}\n":                  `script.commands "/bin/sh" must be a list of texts`,
		"script: {commands: [bin/sh]}\n":                 `script.commands "bin/sh" is not allowed: "bin/sh" must be an absolute path`,
		"script: {commands: ['/opt/../bin/*']}\n":        `must be an absolute path without ".."`,
		"script: {}\n": `script.commands "" is not allowed: the list is missing: want paths such as /opt/jobs/*, or "*" for everything`,
		"script: {commands: ['*'], directory: w}":           `script.directory "w" must be an absolute path`,
		"script: {commands: ['*'], directory: '/w/{host}'}": `script.directory "/w/{host}" must have no other braces than {job} and {item}`,
		"script: {commands: ['*'], directory: '/{job}'}":    `must have {job} and {item} as whole segments below an existing folder`,
		"script: {commands: ['*'], cgroup: none, pids: 9}":  `script.cgroup "none" must not be none with a limit`,
		"script: {commands: ['*'], env: {pass: ['A=B']}}":   `script.env.pass "A=B" must be names of variables`,
		"script: {commands: ['*'], env: {files: [env]}}":    `script.env.files "env" must be absolute paths`,
		"script: {commands: ['*'], log: {size: 1K}}":        `script.log.size "1024" must be at least 4K`,
		"take: {classes: [HTTP]}\n" + script:                `take.classes "HTTP" needs the section http`,
		"take: {classes: [Simple]}\n" + script:              `take.classes "Simple" must be one of ScriptJob, HTTP`,
		"take: {jobs: ['[']}\n" + script:                    `take.jobs "[" must be patterns such as "orders-*"`,
		"take: {labels: {zone: 'eu,us'}}\n" + script:        `take.labels "zone=eu,us" must have no space, comma or equals sign`,
		"take: {}\n":                                        `script "" or http must be there: without both`,
		"jobs: {directory: jobs}\n" + script:                `jobs.directory "jobs" must be an absolute path`,
		"jobs: {directory: /j, missing: drop}\n" + script:   `jobs.missing "drop" must be one of keep, disable, remove`,
		"jobs: {directory: /j, missing: remove}\n" + script: `jobs.owner "" must be there if missing is remove`,
		"jobs: {missing: remove, owner: x}\n" + script:      `jobs.directory "" must be there if owner, missing or version is`,
		"http: {}\n":                       `http.allow "" is not allowed: the list is missing`,
		"http: {allow: ['https://a/b']}\n": `http.allow "https://a/b" is not allowed: "https://a/b" must be scheme://host`,
		"mail: {}\n" + script:              `mail.server "" must be host:port`,
		"mail: {server: 'a:0', from: a, to: [b], tls: no, user: c, password: swordfish}\n" + script: `mail.password "9 bytes" must be "file:"`,
		"mail: {server: 'a:25', from: a, to: []}\n" + script:                                        `mail.from "a" must be an address`,
		"mail: {server: 'a:25', from: a@b, to: []}\n" + script:                                      `mail.to "" must have patterns`,
		"mail: {server: 'a:25', from: a@b, to: ['*b']}\n" + script:                                  `mail.to "*b" must be patterns with one @`,
		"mail: {server: 'a:25', from: a@b, to: ['*'], user: c}\n" + script:                          `mail.user "c" and mail.password must be given together`,
		"http: {allow: ['*'], networks: [10]}\n":                                                    `http.networks "10" must be networks such as 10.0.0.0/8`,
		"http: {allow: ['*'], secrets: ['/run/*']}\n":                                               `http.secrets "/run/*" must be patterns such as file:/run/secrets/*`,
		"http: {allow: ['*'], sign: {keys: [swordfish]}}\n":                                         `http.sign.keys "9 bytes" must be "file:" and an absolute path`,
		"http: {allow: ['*'], sign: {keys: ['env:A', 'env:B', 'env:C']}}\n":                         `http.sign.keys "3 keys" must be one key, or two`,
		"registry: {etcd: [a], embedded: /e}\n" + script:                                            `registry "" must have one of etcd, zookeeper and embedded`,
		"registry: {etcd: [a], password: swordfish}\n" + script:                                     `registry.password "9 bytes" must be "file:"`,
		"registry: {etcd: ['http://e1:2379', 'http://anna:swordfish@e2:2379']}\n" + script:          `registry.etcd "2 addresses" must have no user and no password`,
		"registry: {namespace: a/b//}\n" + script:                                                   `registry.namespace "a/b//" must be names with a / between them`,
		"listen: here\n" + script:                                                                   `listen "here" must be host:port`,
		"log: {level: loud}\n" + script:                                                             `log.level "loud" must be one of debug, info, warn, error`,
		"http: {allow: ['*'], output: 2M}\n":                                                        `http.output "2097152" must be at most 1M`,
		"history: {outputs: -1}\n" + script:                                                         `history.outputs "-1" must be 1 to 100000`,
		"history: {file: /w/x/h.db}\nscript: {commands: ['*'], directory: '/w/{job}/{item}'}":       `history.file "/w/x/h.db" must not be below /w/, where scripts run`,
		"history: {file: /w//h.db}\nscript: {commands: ['*'], directory: /w}":                       `history.file "/w//h.db" must not be below /w, where scripts run`,
		"history: {size: 1K}\n" + script:                                                            `history.size "1024" must be at least 8M`,
		"history: {file: h.db}\n" + script:                                                          `history.file "h.db" must be an absolute path`,
		"registry: {zookeeper: [a], ca: /c}\n" + script:                                             `registry.ca "/c" must not be there besides zookeeper, to which there is no TLS`,
		"registry: {zookeeper: [a], cert: /c, key: /k}\n" + script:                                  `registry.key "/k" must not be there besides zookeeper`,
	} {
		_, err := worker.Parse([]byte(text))
		require.ErrorIs(t, err, worker.ErrInvalidFile, text)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "swordfish")
	}
}

func TestAHistoryBesideTheFoldersOfJobs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"history: {file: /v/history/h.db}\nscript: {commands: ['*'], directory: '/v/jobs/{job}/{item}'}",
		"history: {file: /v/h.db}\nscript: {commands: ['*'], directory: /v/h}",
		"history: {file: /v/h.db}\nscript: {commands: ['*']}",
	} {
		_, err := worker.Parse([]byte(text))
		require.NoError(t, err, text)
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := worker.Parse([]byte("grace: 0x\nlisten: [1]\nunknown: 1\n"))
	require.ErrorContains(t, err, `grace "0x"`)
	require.ErrorContains(t, err, `listen ""`)
	require.ErrorContains(t, err, `unknown "1"`)
	_, err = worker.Parse([]byte("grace: 90\nlisten: here\nscript: {commands: [bin/sh], stop: 1h}\nhistory: {size: 1K, ouputs: 2}\n"))
	require.Equal(t, []string{
		`line 1: grace "90" must be a duration such as 90s or 1h30m`,
		`line 4: history.ouputs "2" is no member: want one of file, keep, outputs, size`,
		`script.commands "bin/sh" is not allowed: "bin/sh" must be an absolute path without "..", such as /opt/jobs/*`,
		`history.size "1024" must be at least 8M`,
		`listen "here" must be host:port, such as 127.0.0.1:9090`,
	}, strings.Split(err.Error(), "\n"), "also those of form and of value; a stop is not compared with a grace that was not read")
	_, err = worker.Parse([]byte("scirpt: {commands: ['*']}\n"))
	require.NotContains(t, err.Error(), "\n", "what is misspelt is not missing as well")
	_, err = worker.Parse([]byte("script: {commands: [], stop: 1h}\nlisten: x\n"))
	require.ErrorContains(t, err, "script.commands")
	require.ErrorContains(t, err, "script.stop")
	require.ErrorContains(t, err, "listen")
}

// A worker keeps nothing that its caller may change afterwards: what a file lets it do changes by a reload alone.
func TestAFileSharesNothing(t *testing.T) {
	t.Parallel()
	var given worker.File
	fill(reflect.ValueOf(&given).Elem())
	kept, _ := given.Completed() // what it is filled with means nothing
	require.Equal(t, "x", kept.Script.Commands[0])
	require.GreaterOrEqual(t, disjoint(t, reflect.ValueOf(given), reflect.ValueOf(kept), "file"), 12, "slices and maps of a file")
}

// fill gives a value, and all below it, a content.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x"), reflect.ValueOf("x"))
	case reflect.String:
		v.SetString("x")
	default:
	}
}

// disjoint requires that two values share no pointer, slice or map, and counts their slices and maps.
func disjoint(t *testing.T, a, b reflect.Value, name string) (n int) {
	t.Helper()
	switch a.Kind() {
	case reflect.Pointer:
		require.NotEqual(t, a.Pointer(), b.Pointer(), name)
		n += disjoint(t, a.Elem(), b.Elem(), name)
	case reflect.Struct:
		for i := range a.NumField() {
			n += disjoint(t, a.Field(i), b.Field(i), name+"."+a.Type().Field(i).Name)
		}
	case reflect.Slice, reflect.Map:
		require.NotEqual(t, a.Pointer(), b.Pointer(), name)
		n++
	default:
	}
	return n
}
