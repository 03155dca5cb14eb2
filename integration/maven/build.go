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
// like [Jars] for a project of our own: its parts together hold its pom.xml and its sources, each file
// once, and a change to any of them has it built anew. Projects may share parts.
func Build(ctx context.Context, name string, parts ...fs.FS) (string, error) {
	var content []byte
	for _, part := range parts {
		text, err := contentOf(part)
		if err != nil {
			return "", fmt.Errorf("read the project %s: %w", name, err)
		}
		content = append(content, text...)
	}
	return once(name, content, func(work, jars string) error {
		folder := filepath.Join(work, "project")
		for _, part := range parts {
			if err := os.CopyFS(folder, part); err != nil {
				return err
			}
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
