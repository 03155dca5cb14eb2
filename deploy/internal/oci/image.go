package oci

import (
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"strconv"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Image returns the image of a program that was built for a platform.
func Image(program string, platform v1.Platform) (v1.Image, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, config(platform, versionOf(program)))
	if err != nil {
		return nil, fmt.Errorf("image for %s: %w", platform, err)
	}
	for _, files := range [][]file{base(), {{name: ProgramPath[1:], mode: 0o755, content: content}}} {
		layer, err := layerOf(files)
		if err != nil {
			return nil, fmt.Errorf("image for %s: %w", platform, err)
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, fmt.Errorf("image for %s: %w", platform, err)
		}
	}
	return image, nil
}

func layerOf(files []file) (v1.Layer, error) {
	var text bytes.Buffer
	if err := archive(&text, files); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
}

// config says how the image runs. It has no time, so that the digest has none.
func config(platform v1.Platform, version string) *v1.ConfigFile {
	labels := map[string]string{
		"org.opencontainers.image.title":    "elasticron",
		"org.opencontainers.image.source":   "https://github.com/elasticron/elasticron",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	if version != "" {
		labels["org.opencontainers.image.version"] = version
	}
	user := strconv.Itoa(UserID)
	return &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: []string{ProgramPath}, User: user + ":" + user, WorkingDir: StateFolder, Labels: labels,
			Env: []string{"HOME=" + StateFolder, "PATH=" + ProgramPath[:len(ProgramPath)-len("/elasticron")]},
		},
	}
}

// versionOf is the version that Go has written into a program; empty if it has none, as outside a repository.
func versionOf(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil || info.Main.Version == "(devel)" {
		return ""
	}
	return info.Main.Version
}
