package oci

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// built are two programs that are none: what is in them makes no difference here.
func built(t *testing.T) []Built {
	t.Helper()
	var all []Built
	for _, architecture := range []string{"amd64", "arm64"} {
		name := filepath.Join(t.TempDir(), "program")
		require.NoError(t, os.WriteFile(name, []byte("a program for "+architecture), 0o600))
		all = append(all, Built{Platform: v1.Platform{OS: "linux", Architecture: architecture}, Program: name})
	}
	return all
}

// The same programs give the same bytes, whenever and wherever the image is made.
func TestTheDigestIsTheSameTwice(t *testing.T) {
	t.Parallel()
	var digests []v1.Hash
	var files []map[string]string
	for range 2 {
		folder := filepath.Join(t.TempDir(), "image")
		index, err := Index(built(t))
		require.NoError(t, err)
		digest, err := Write(folder, index)
		require.NoError(t, err)
		digests, files = append(digests, digest), append(files, tree(t, folder))
	}
	require.Equal(t, digests[0], digests[1])
	require.Equal(t, files[0], files[1])

	other := built(t)
	require.NoError(t, os.WriteFile(other[0].Program, []byte("another program"), 0o600))
	index, err := Index(other)
	require.NoError(t, err)
	digest, err := index.Digest()
	require.NoError(t, err)
	require.NotEqual(t, digests[0], digest)
}

// tree returns all files of a folder.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, folder)] = string(text)
		return err
	}))
	require.Greater(t, len(all), 7, "index, layout, and for each platform a manifest, a configuration and a program")
	return all
}

// What is written is a layout that registries take: digests, sizes, media types and platforms agree.
func TestTheLayoutIsValid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir() // an empty one will do
	index, err := Index(built(t))
	require.NoError(t, err)
	digest, err := Write(folder, index)
	require.NoError(t, err)
	all, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	require.NoError(t, validate.Index(all))
	top, err := all.IndexManifest()
	require.NoError(t, err)
	require.Len(t, top.Manifests, 1, "which is what crane and skopeo push, whatever its platforms are")
	require.Equal(t, digest, top.Manifests[0].Digest)
	require.Equal(t, types.OCIImageIndex, top.Manifests[0].MediaType)
	read, err := all.ImageIndex(digest)
	require.NoError(t, err)
	manifest, err := read.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 2)
	for i, architecture := range []string{"amd64", "arm64"} {
		require.Equal(t, &v1.Platform{OS: "linux", Architecture: architecture}, manifest.Manifests[i].Platform)
		image, err := read.Image(manifest.Manifests[i].Digest)
		require.NoError(t, err)
		config, err := image.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, architecture, config.Architecture)
		require.True(t, config.Created.IsZero())
		require.Equal(t, "65532:65532", config.Config.User)
		require.Equal(t, []string{"/usr/local/bin/elasticron"}, config.Config.Entrypoint)
		require.Equal(t, []string{"HOME=/var/lib/elasticron", "PATH=/usr/local/bin"}, config.Config.Env)
		require.NotContains(t, config.Config.Labels, "org.opencontainers.image.version", "this program has none")
	}
	_, err = Write(folder, index)
	require.ErrorContains(t, err, "is not empty")
}

// All that is in the image, with who may do what with it.
func TestTheFilesOfTheImage(t *testing.T) {
	t.Parallel()
	image, err := Image(built(t)[0].Program, v1.Platform{OS: "linux", Architecture: "amd64"})
	require.NoError(t, err)
	layers := mutate.Extract(image)
	defer func() { require.NoError(t, layers.Close()) }()
	type entry struct {
		mode  int64
		owner int
	}
	got, contents := make(map[string]entry), make(map[string]string)
	for in := tar.NewReader(layers); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.Equal(t, header.Uid, header.Gid, header.Name)
		require.Zero(t, header.ModTime.Unix(), header.Name)
		got[header.Name] = entry{header.Mode, header.Uid}
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		contents[header.Name] = string(text)
	}
	require.Equal(t, map[string]entry{
		"etc": {0o755, 0}, "etc/group": {0o644, 0}, "etc/passwd": {0o644, 0},
		"etc/ssl": {0o755, 0}, "etc/ssl/certs": {0o755, 0}, "etc/ssl/certs/ca-certificates.crt": {0o644, 0},
		"tmp": {0o1777, 0},
		"usr": {0o755, 0}, "usr/local": {0o755, 0}, "usr/local/bin": {0o755, 0}, "usr/local/bin/elasticron": {0o755, 0},
		"var": {0o755, 0}, "var/lib": {0o755, 0}, "var/lib/elasticron": {0o750, 65532},
	}, got)
	require.Equal(t, "a program for amd64", contents["usr/local/bin/elasticron"])
	require.Contains(t, contents["etc/passwd"], "elasticron:x:65532:65532:")
}

// The certificates are those of public authorities, and Go can read them.
func TestTheCertificates(t *testing.T) {
	t.Parallel()
	text := roots()
	require.True(t, x509.NewCertPool().AppendCertsFromPEM(text))
	require.Greater(t, bytes.Count(text, []byte("BEGIN CERTIFICATE")), 80)
}

func TestPlatforms(t *testing.T) {
	t.Parallel()
	got, err := ParsePlatform("linux/arm64")
	require.NoError(t, err)
	require.Equal(t, v1.Platform{OS: "linux", Architecture: "arm64"}, got)
	for _, wrong := range []string{"", "linux", "linux/", "windows/amd64", "linux/arm/v7", "amd64"} {
		_, err := ParsePlatform(wrong)
		require.ErrorContains(t, err, "is not allowed: want linux/ and an architecture", wrong)
	}
	require.ErrorContains(t, Build(t.Context(), "../../..", v1.Platform{OS: "linux", Architecture: "z81"}, t.TempDir()+"/x"), "z81")
}
