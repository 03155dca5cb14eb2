package docs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/docs/markdown"
)

// others are the programs of others that pages may name in a block for a shell. How they are used is not checked.
var others = []string{
	"cd", "curl", "etcd", "etcdctl", "etcdutl", "helm", "install", "kubectl", "mkdir", "podman", "printf", "skopeo", "sudo", "systemctl", "systemd-sysusers",
}

// In the blocks for a shell, `make` has a target that exists, `go` a folder that exists, and whatever takes a file of this
// repository finds it. A test of cmd/elasticron checks the commands of elasticron itself.
func TestShellBlocks(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(root + "/Makefile")
	require.NoError(t, err)
	blocks(t, func(page string, b markdown.Block) {
		for _, line := range b.CommandLines() {
			if fault := shellFault(string(makefile), line.Text); fault != "" {
				t.Errorf("%s:%d: %s: %s", page, line.Line, line.Text, fault)
			}
		}
	}, "sh", "console")
}

// ours is the path of a package of this module.
var ours = regexp.MustCompile(`^(?:\.|github\.com/elasticron/elasticron)((?:/[a-z]+)*)(?:@\w+)?$`)

// inRepository is a path of a file or folder of this repository.
var inRepository = regexp.MustCompile(`^(?:cmd|deploy|docs|examples|site)/[\w./-]+$`)

// shellFault tells what is wrong with a command line; empty if nothing is.
func shellFault(makefile, line string) string {
	words := strings.Fields(line)
	for _, word := range words {
		if _, err := os.Stat(root + "/" + word); inRepository.MatchString(word) && err != nil {
			return "there is no " + word
		}
	}
	switch {
	case words[0] == "elasticron" || slices.Contains(others, words[0]):
		return ""
	case words[0] == "make" && len(words) > 1:
		if !strings.Contains(makefile, "\n"+words[1]+":") {
			return "the Makefile has no such target"
		}
		return ""
	case words[0] == "go" && len(words) > 1:
		return goFault(words[1:])
	}
	return "this test knows no such program"
}

func goFault(words []string) string {
	switch words[0] {
	case "run", "get", "install", "test", "build":
		for _, word := range words[1:] {
			if m := ours.FindStringSubmatch(word); m != nil {
				if _, err := os.Stat(root + m[1]); err != nil {
					return "there is no folder " + word
				}
			}
		}
		return ""
	case "mod":
		return ""
	}
	return "this test knows no such command of go"
}

func TestShellFault(t *testing.T) {
	t.Parallel()
	const makefile = "\ntest: ## x\n"
	for line, want := range map[string]string{
		"make test":               "",
		"make tests":              "the Makefile has no such target",
		"go run ./cmd/elasticron": "",
		"go run ./cmd/elastic":    "there is no folder ./cmd/elastic",
		"go install github.com/elasticron/elasticron/cmd/elasticron@latest": "",
		"go install github.com/elasticron/elasticron/cmd/cron@latest":       "there is no folder github.com/elasticron/elasticron/cmd/cron@latest",
		"go fix ./...":                         "this test knows no such command of go",
		"elasticron get jobs":                  "",
		"etcdctl get --prefix /":               "",
		"install -m 644 site/mkdocs.yml /etc":  "",
		"install -m 644 site/mkdocs.json /etc": "there is no site/mkdocs.json",
		"elastikron get jobs":                  "this test knows no such program",
	} {
		require.Equal(t, want, shellFault(makefile, line), line)
	}
}
