package etcdserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/elasticron/elasticron/integration/cache"
)

const (
	module = "github.com/elasticron/elasticron"
	// buildTimeout is for compiling etcd and all that it needs, on a machine that has never done so.
	buildTimeout = 15 * time.Minute
)

// sources are the folders, in the module, that make up the program besides etcd itself.
var sources = []string{"integration/etcdserver/server", "integration/etcdserver/internal/wire", "registry/etcd/embedded"}

// program builds the program and returns where it lies.
var program = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("find the module %s: %w", module, err)
	}
	root := string(bytes.TrimSpace(out))
	if err := look(root); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	folder, err := cache.Folder("etcdserver", hex.EncodeToString(sum[:6]))
	if err != nil {
		return "", err
	}
	return build(ctx, folder)
})

// look has the go command see that the test depends on the sources: it repeats the result of a test
// only while the files are the same that the test has looked at.
func look(root string) error {
	files := []string{filepath.Join(root, "go.mod")}
	for _, folder := range sources {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.go"))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			return err
		}
	}
	return nil
}

// build builds the program into a folder, if it is not there already. One process at a time does; for
// those that come later the go command finds it up to date.
func build(ctx context.Context, folder string) (string, error) {
	unlock, err := cache.Lock(filepath.Join(folder, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	path := filepath.Join(folder, "server")
	// GOFLAGS may ask for the race detector, which is what all this is about. The symbols are for debuggers.
	cmd := exec.CommandContext(ctx, "go", "build", "-race=false", "-ldflags=-s -w", "-o", path, module+"/integration/etcdserver/server")
	// In the same folder, the go command renames what it has built: nobody starts half a program, and the one
	// that runs is not in the way.
	cmd.Env = append(os.Environ(), "GOTMPDIR="+folder)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program of the etcd servers: %w\n%s", err, text)
	}
	return path, nil
}
