//go:build linux

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/deploy/internal/oci"
)

// patience bounds what a test waits for.
const patience = 3 * time.Minute

// The command builds the real image, twice with the same digest, and what is in it runs as a container would run it:
// with nothing else around it, and as its user.
func TestTheRealImage(t *testing.T) {
	t.Parallel()
	var digests []string
	var image v1.Image
	for range 2 {
		folder := filepath.Join(t.TempDir(), "image")
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), []string{"-o", folder, "-sources", "../..", "-platforms", "linux/" + runtime.GOARCH}, &out))
		name, digest, _ := strings.Cut(strings.TrimSpace(out.String()), " ")
		require.Equal(t, folder, name)
		require.Regexp(t, "^sha256:[0-9a-f]{64}$", digest)
		digests = append(digests, digest)
		image = imageIn(t, folder)
	}
	require.Equal(t, digests[0], digests[1])

	root := unpacked(t, image)
	program, err := elf.Open(filepath.Join(root, oci.ProgramPath))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, program.Close()) })
	libraries, err := program.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries, "it is static")

	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("NEEDED: root, to run the image; in CI this must not be skipped")
		}
		t.Skip("NEEDED: root, to run the image")
	}
	config, err := image.ConfigFile()
	require.NoError(t, err)
	inside := func(args ...string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		t.Cleanup(cancel)
		cmd := exec.CommandContext(ctx, config.Config.Entrypoint[0], args...)
		cmd.Dir, cmd.Env = config.Config.WorkingDir, config.Config.Env
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: oci.UserID, Gid: oci.UserID}}
		return cmd
	}
	out, err := inside("--version").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "elasticron version ")
	out, err = inside("cron", "0 0 2 * * ?", "--zone", "Europe/Berlin").CombinedOutput()
	require.NoError(t, err, "it brings its own time zones\n%s", out)
	require.Regexp(t, `CES?T|\+0[12]:?00`, string(out))

	var errs bytes.Buffer
	server := inside("server", "--embedded", "--embedded-listen", "", "-n", "shop", "--listen", "127.0.0.1:0")
	server.Stderr = &errs
	said, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	url := ""
	for lines := bufio.NewScanner(said); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "The console is at ")
	}
	if url == "" {
		_ = server.Wait() // which is still writing errs until then
		require.Fail(t, "it ended without saying where it is", errs.String())
	}
	answer, err := http.Get(url + "live")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	require.NoError(t, server.Wait(), errs.String())
}

// imageIn reads the one image of a layout.
func imageIn(t *testing.T, folder string) v1.Image {
	t.Helper()
	top, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	all, err := top.IndexManifest()
	require.NoError(t, err)
	index, err := top.ImageIndex(all.Manifests[0].Digest)
	require.NoError(t, err)
	images, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, images.Manifests, 1)
	image, err := index.Image(images.Manifests[0].Digest)
	require.NoError(t, err)
	return image
}

// unpacked writes what is in an image into a folder.
func unpacked(t *testing.T, image v1.Image) string {
	t.Helper()
	root := t.TempDir()
	layers := mutate.Extract(image)
	defer func() { require.NoError(t, layers.Close()) }()
	for in := tar.NewReader(layers); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return root
		}
		require.NoError(t, err)
		name := filepath.Join(root, header.Name)
		folder := name
		if header.Typeflag != tar.TypeDir {
			folder = filepath.Dir(name) // the upper layer comes first
		}
		require.NoError(t, os.MkdirAll(folder, 0o755)) //nolint:gosec // as such folders are
		if header.Typeflag != tar.TypeDir {
			text, err := io.ReadAll(in)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(name, text, 0o600))
		}
		if os.Geteuid() == 0 {
			require.NoError(t, os.Chown(name, header.Uid, header.Gid))
		}
		require.NoError(t, os.Chmod(name, header.FileInfo().Mode()))
	}
}

func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o600))
	for want, args := range map[string][]string{
		"-o is missing":                           {},
		`argument "x" is not allowed`:             {"-o", full, "x"},
		`platform "windows/amd64" is not allowed`: {"-o", full, "-platforms", "linux/amd64,windows/amd64"},
		"is not empty: want one to make":          {"-o", full},
		"flag provided but not defined":           {"-p"},
	} {
		var out bytes.Buffer
		require.ErrorContains(t, run(t.Context(), args, &out), want)
		require.Empty(t, out.String())
	}
}

// The Containerfile for scripts builds the program as this command does, and runs it as the same user.
func TestTheContainerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Containerfile")
	require.NoError(t, err)
	lines := strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\n")
	for _, want := range []string{
		"RUN CGO_ENABLED=0 go build -o /elasticron '" + strings.Join(oci.BuildFlags(), "' '") + "' ./cmd/elasticron",
		"COPY --from=build /elasticron " + oci.ProgramPath,
		"USER 65532:65532",
		"WORKDIR " + oci.StateFolder,
		`ENTRYPOINT ["` + oci.ProgramPath + `"]`,
	} {
		require.Contains(t, lines, want)
	}
	module, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	version := ""
	for line := range strings.Lines(string(module)) {
		if after, found := strings.CutPrefix(line, "go "); found {
			version = strings.Join(strings.SplitN(strings.TrimSpace(after), ".", 3)[:2], ".")
		}
	}
	require.Contains(t, string(text), "FROM docker.io/library/golang:"+version+"-bookworm AS build\n")
	for _, line := range lines {
		instruction, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "#") {
			continue
		}
		require.Contains(t, []string{"", "FROM", "RUN", "COPY", "USER", "WORKDIR", "ENTRYPOINT"}, instruction, line)
	}
}
