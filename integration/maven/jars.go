package maven

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/elasticron/elasticron/integration/cache"
)

// fetchTimeout bounds one run of Maven. The first on a machine fetches Maven's own plugins too.
const fetchTimeout = 5 * time.Minute

// Jars returns a folder that holds the jars that pom names, and those that they depend on. It runs
// Maven if no process of this user did so before for the same pom. name tells a person what the folder
// is for. Several processes may call it at once.
func Jars(ctx context.Context, name string, pom []byte) (string, error) {
	return once(name, pom, func(work, jars string) error {
		if err := os.WriteFile(filepath.Join(work, "pom.xml"), pom, 0o600); err != nil {
			return err
		}
		return Run(ctx, work, "dependency:copy-dependencies", "-DoutputDirectory="+jars)
	})
}

// once returns the folder that fill fills for this content, and calls it if nobody did before. fill is
// given a folder to work in and the one to fill.
func once(name string, content []byte, fill func(work, jars string) error) (string, error) {
	root, err := cache.Folder("jars")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	folder := filepath.Join(root, name+"-"+hex.EncodeToString(sum[:6]))
	if whole(folder) {
		return folder, nil
	}
	unlock, err := cache.Lock(folder + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if whole(folder) { // another process had the lock
		return folder, nil
	}
	if err := fetch(root, folder, fill); err != nil {
		return "", fmt.Errorf("fetch the jars of %s: %w", name, err)
	}
	return folder, nil
}

func whole(folder string) bool {
	_, err := os.Stat(folder)
	return !errors.Is(err, fs.ErrNotExist)
}

// fetch fills a folder beside the one wanted and renames it.
func fetch(root, folder string, fill func(work, jars string) error) error {
	work, err := os.MkdirTemp(root, "fetch-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	jars := filepath.Join(work, "jars")
	if err := os.Mkdir(jars, 0o755); err != nil {
		return err
	}
	if err := fill(work, jars); err != nil {
		return err
	}
	return os.Rename(jars, folder)
}

// Run runs Maven without questions in the folder of a project. The error holds what Maven printed.
func Run(ctx context.Context, folder string, args ...string) error {
	return cache.Again(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, "mvn", append([]string{"-q", "-B"}, args...)...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("mvn %v: %w\n%s", args, err, out)
		}
		return nil
	}, isTransfer)
}

// isTransfer tells whether Maven failed for want of an answer.
func isTransfer(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "Could not transfer")
}
