package test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// page is docs/deploying.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(sources + "/docs/deploying.md")
	require.NoError(t, err)
	return string(text)
}

// blocks are what stands in the page as code of a language.
func blocks(t *testing.T, language string) (all []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page(t), -1) {
		all = append(all, m[1])
	}
	require.NotEmpty(t, all, language)
	return all
}

// The values of the page render, and the worker takes its file.
func TestTheValuesOfThePage(t *testing.T) {
	t.Parallel()
	for _, values := range blocks(t, "yaml") {
		r := render(t, values)
		require.Len(t, r.deployments, 2)
		r.isSafe(t)
		r.fitsTogether(t)
		name := filepath.Join(t.TempDir(), "worker.yaml")
		require.NoError(t, os.WriteFile(name, []byte(r.workerFile()), 0o600))
		require.Equal(t, "The file is in order.\n", elasticron(t, "", "worker", "--config", name, "--check"))
		var secrets []string
		for _, part := range []string{"server", "worker"} {
			pod, _ := r.pod(t, part)
			for _, secret := range secretsOf(pod) {
				secrets = append(secrets, secret)
			}
		}
		slices.Sort(secrets)
		made := regexp.MustCompile(`kubectl -n ops create secret generic (\S+) `).FindAllStringSubmatch(page(t), -1)
		var names []string
		for _, m := range made {
			names = append(names, m[1])
		}
		slices.Sort(names)
		require.Equal(t, names, slices.Compact(secrets), "the Secrets that the page makes are those that the pods need")
	}
}

// What the commands of the page name is there: commands and flags of the program, targets, files, keys of Secrets.
func TestTheCommandsOfThePage(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(sources + "/Makefile")
	require.NoError(t, err)
	templates := ""
	for _, name := range []string{"server.yaml", "worker.yaml", "_pod.tpl"} {
		text, err := os.ReadFile("../chart/templates/" + name)
		require.NoError(t, err)
		templates += string(text)
	}
	seen := make(map[string]int)
	for _, block := range append(blocks(t, "sh"), strings.Join(regexp.MustCompile("`elasticron [^`]+`").FindAllString(page(t), -1), "\n")) {
		for line := range strings.Lines(block) {
			words := strings.Fields(strings.Trim(strings.TrimSpace(line), "`"))
			if len(words) == 0 {
				continue
			}
			seen[words[0]]++
			for _, word := range words {
				if strings.HasPrefix(word, "deploy/") {
					_, err := os.Stat(sources + "/" + word)
					require.NoError(t, err, line)
				}
			}
			switch words[0] {
			case "elasticron":
				command := words[1:]
				if i := slices.IndexFunc(command, func(w string) bool { return strings.HasPrefix(w, "-") || w == ">" }); i >= 0 {
					command = command[:i]
				}
				help := elasticron(t, "", append(command, "--help")...)
				require.Contains(t, help, "elasticron "+strings.Join(command[:min(len(command), 2)], " "), line)
				for _, flag := range flagsIn(line) {
					require.Contains(t, help, flag, line)
				}
			case "make":
				require.Contains(t, string(makefile), "\n"+words[1]+": ", line)
				for _, variable := range words[2:] {
					name, _, _ := strings.Cut(variable, "=")
					require.Contains(t, string(makefile), "\n"+name+" ", line)
				}
			case "kubectl":
				_, file, found := strings.Cut(line, "--from-file=")
				require.True(t, found, line)
				require.Regexp(t, `(/|key: )`+regexp.QuoteMeta(strings.TrimSpace(file))+`\b`, templates, line)
			}
		}
	}
	for _, command := range []string{"elasticron", "make", "kubectl", "helm", "install", "systemctl"} {
		require.NotZero(t, seen[command], command)
	}
}

// The values that the page names exist.
func TestTheValuesThatThePageNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../chart/values.yaml")
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, yaml.Unmarshal(text, &values))
	named := regexp.MustCompile("`((?:image|registry|server|worker|networkPolicy)(?:\\.[a-zA-Z]+)+)`").FindAllStringSubmatch(page(t), -1)
	require.Greater(t, len(named), 10)
	files := []string{"server.env", "server.secrets", "worker.secrets", "worker.yaml"}
	for _, m := range named {
		if slices.Contains(files, m[1]) || strings.HasPrefix(m[1], "worker.config.") {
			continue
		}
		var at any = values
		for name := range strings.SplitSeq(m[1], ".") {
			members, _ := at.(map[string]any)
			require.Contains(t, members, name, m[1])
			at = members[name]
		}
	}
}
