package jobfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/seed"
)

// ErrFolder is what every fault of a folder is.
var ErrFolder = errors.New("invalid folder of jobs")

// Look is what a folder looks like without reading its files. Two looks that are the same are of the same files.
type Look struct {
	signature string
	newest    time.Time
}

// folderEnds are the ends of the names of files that hold jobs.
var folderEnds = []string{".yaml", ".yml", ".properties"}

// LookAt looks at a folder. Files whose names begin with a dot, or end otherwise, are none of jobs.
func LookAt(dir string) (Look, []string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Look{}, nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Look{}, nil, err
	}
	look := Look{newest: info.ModTime()}
	var text strings.Builder
	var files []string
	fmt.Fprintln(&text, info.ModTime().UnixNano())
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") || !slices.Contains(folderEnds, strings.ToLower(filepath.Ext(name))) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, name)) // behind links, which Kubernetes makes of a ConfigMap's files
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it has just gone, and the next look shows that
		case err != nil:
			return Look{}, nil, err
		case !info.Mode().IsRegular():
			return Look{}, nil, fmt.Errorf("%w: %s is no regular file", ErrFolder, filepath.Join(dir, name))
		}
		if info.ModTime().After(look.newest) {
			look.newest = info.ModTime()
		}
		files = append(files, filepath.Join(dir, name))
		fmt.Fprintf(&text, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	look.signature = text.String()
	return look, files, nil
}

// Set is what the files of a folder say.
type Set struct {
	Jobs    map[string]string // the configurations, by the names of the jobs
	Version int64
}

// ahead is how far a clock may be behind that of whoever changed a file.
const ahead = time.Minute

// Read reads a folder. The version is that given or, if it is 0, the time at which a file or the folder was changed
// last. The error joins all faults.
func Read(dir string, version int64, now time.Time) (Set, error) {
	look, files, err := LookAt(dir)
	if err != nil {
		return Set{}, err
	}
	set := Set{Jobs: make(map[string]string), Version: version}
	var faults []error
	if version == 0 {
		set.Version = max(look.newest.UnixNano(), 1)
		if look.newest.After(now.Add(ahead)) {
			faults = append(faults, fmt.Errorf("%w: %s was changed at %s, which is in the future: want a time up to now, or jobs.version",
				ErrFolder, dir, look.newest.UTC().Format(time.RFC3339)))
		}
	}
	from := make(map[string]string)
	for _, name := range files {
		file, err := seed.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // it has just gone
		}
		faults = append(faults, err)
		for path, value := range file.Nodes() {
			at, _ := jobtree.Parse(path)
			switch other, twice := from[at.Job]; {
			case at.Kind != jobtree.KindConfig:
				faults = append(faults, fmt.Errorf("%w: %s says %s, which is up to operators: want configs alone", ErrFolder, name, path))
			case twice:
				faults = append(faults, fmt.Errorf("%w: job %q is in %s and in %s", ErrFolder, at.Job, other, name))
			default:
				from[at.Job], set.Jobs[at.Job] = name, value
			}
		}
	}
	return set, errors.Join(faults...)
}
