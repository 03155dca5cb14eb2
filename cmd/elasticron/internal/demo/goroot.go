package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sources returns the folder whose files are counted: dir, or else the sources of the Go toolchain.
func sources(ctx context.Context, dir string) (string, error) {
	if dir == "" {
		root, err := goroot(ctx)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "src")
	}
	// Children have the same working directory, but a path in full says more in what is shown.
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("look for files to count: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("look for files to count: %s is not a folder", dir)
	}
	return dir, nil
}

// goroot asks the go command, which knows best, and falls back on the environment.
func goroot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	root := strings.TrimSpace(string(out))
	if err == nil && root != "" {
		return root, nil
	}
	if root = os.Getenv("GOROOT"); root != "" {
		return root, nil
	}
	return "", errors.Join(errors.New("no Go toolchain found, name a folder with --dir"), err)
}
