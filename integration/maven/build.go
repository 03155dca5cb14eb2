package maven

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Build returns a folder that holds the jar of a Maven project and those that it needs to run. It is
// like [Jars] for a project of our own: project holds its pom.xml and its sources, and a change to any
// of them has it built anew.
func Build(ctx context.Context, name string, project fs.FS) (string, error) {
	content, err := contentOf(project)
	if err != nil {
		return "", fmt.Errorf("read the project %s: %w", name, err)
	}
	return once(name, content, func(work, jars string) error {
		folder := filepath.Join(work, "project")
		if err := os.CopyFS(folder, project); err != nil {
			return err
		}
		if err := Run(ctx, folder, "package", "dependency:copy-dependencies",
			"-DincludeScope=runtime", "-DoutputDirectory="+jars); err != nil {
			return err
		}
		built, err := filepath.Glob(filepath.Join(folder, "target", "*.jar"))
		if err != nil || len(built) != 1 {
			return fmt.Errorf("the project made the jars %v, want one: %w", built, err)
		}
		return os.Rename(built[0], filepath.Join(jars, filepath.Base(built[0])))
	})
}

// contentOf returns the names and texts of all files, one after the other.
func contentOf(project fs.FS) ([]byte, error) {
	var all bytes.Buffer
	err := fs.WalkDir(project, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(project, path)
		fmt.Fprintf(&all, "%s %d\n%s", path, len(text), text)
		return err
	})
	return all.Bytes(), err
}
