package seed

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// File is the content of a file that was read and found correct.
type File struct {
	jobs map[string]map[string]string // values by path, by job
}

// Nodes returns the paths below the namespace and the values of everything that the file says, in the order of the
// paths.
func (f File) Nodes() iter.Seq2[string, string] {
	return func(yield func(path, value string) bool) {
		all := make(map[string]string)
		for _, values := range f.jobs {
			maps.Copy(all, values)
		}
		for _, path := range slices.Sorted(maps.Keys(all)) {
			if !yield(path, all[path]) {
				return
			}
		}
	}
}

// ErrInvalid is the error of a file that can be opened but is wrong: errors.Is finds it in every fault.
var ErrInvalid = errors.New("invalid seed")

// ReadFile reads a file. The end of its name tells the format: .yaml, .yml or .properties. The error joins all
// faults of the file.
func ReadFile(name string) (File, error) {
	parse, err := parserOf(name)
	if err != nil {
		return File{}, err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return File{}, err
	}
	file, err := parse(text)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", name, err)
	}
	return file, nil
}

func parserOf(name string) (func([]byte) (File, error), error) {
	switch end := strings.ToLower(filepath.Ext(name)); end {
	case ".yaml", ".yml":
		return ParseYAML, nil
	case ".properties":
		return ParseProperties, nil
	default:
		return nil, fmt.Errorf("%w: %s ends in %q, must end in .yaml, .yml or .properties", ErrInvalid, name, end)
	}
}

// add takes up a node.
func (f *File) add(path, value string) error { return f.put(path, value, check) }

// put takes up a node if check, which is [check] or one like it, has nothing against it.
func (f *File) put(path, value string, check func(path, value string) (job, stored string, err error)) error {
	if err := registry.CheckPath(path); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	job, value, err := check(path, value)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if f.jobs == nil {
		f.jobs = make(map[string]map[string]string)
	}
	if f.jobs[job] == nil {
		f.jobs[job] = make(map[string]string)
	}
	if _, twice := f.jobs[job][path]; twice {
		return fmt.Errorf("%w: %s is there twice", ErrInvalid, path)
	}
	f.jobs[job][path] = value
	return nil
}
