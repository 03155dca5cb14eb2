package oci

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// ParsePlatform reads a platform such as linux/amd64.
func ParsePlatform(text string) (v1.Platform, error) {
	system, architecture, _ := strings.Cut(text, "/")
	if system != "linux" || architecture == "" || strings.Contains(architecture, "/") {
		return v1.Platform{}, fmt.Errorf("platform %q is not allowed: want linux/ and an architecture that Go knows, such as linux/amd64 or linux/arm64", text)
	}
	return v1.Platform{OS: system, Architecture: architecture}, nil
}

// BuildFlags are how the program is built: time zones come with it, and no path of this machine does.
func BuildFlags() []string {
	return []string{"-trimpath", "-tags=timetzdata", "-ldflags=-s -w -buildid="}
}

// Build builds the program from the sources of the main module, for a platform, without cgo. It needs the go command.
func Build(ctx context.Context, sources string, platform v1.Platform, to string) error {
	args := append(append([]string{"build", "-o", to}, BuildFlags()...), "./cmd/elasticron")
	build := exec.CommandContext(ctx, "go", args...)
	build.Dir = sources
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture,
		"GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off") // whatever this machine prefers
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build elasticron for %s in %s: %w\n%s", platform, sources, err, out)
	}
	return nil
}
