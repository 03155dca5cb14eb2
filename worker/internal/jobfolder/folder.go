package jobfolder

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
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

// Look is what the files of a folder look like without being read. Two looks that are the same are of the same files.
type Look struct {
	signature string
	files     []file
	changed   time.Time // when a file was changed last, or came into the folder or left it
	mounted   bool
}

// same tells whether two looks are of the same files.
func (l Look) same(as Look) bool { return l.signature == as.signature }

// file is one that holds jobs.
type file struct {
	path    string
	changed time.Time
}

// folderEnds are the ends of the names of files that hold jobs.
var folderEnds = []string{".yaml", ".yml", ".properties"}

// LookAt looks at a folder. Files whose names begin with a dot, or end otherwise, are none of jobs.
func LookAt(dir string) (Look, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Look{}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Look{}, err
	}
	look := Look{changed: info.ModTime(), mounted: isMounted(dir)}
	var text strings.Builder
	fmt.Fprintf(&text, "%q\n", dir)
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") || !slices.Contains(folderEnds, strings.ToLower(filepath.Ext(name))) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, name)) // behind links, which Kubernetes makes of a ConfigMap's files
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if link, err := os.Lstat(filepath.Join(dir, name)); err == nil && link.Mode()&fs.ModeSymlink != 0 {
				// What it led to may be back soon, as a mount or a checkout; nobody has taken the jobs out of the folder.
				return Look{}, fmt.Errorf("%w: %s is a link that leads nowhere", ErrFolder, filepath.Join(dir, name))
			}
			continue // it has just gone, and the next look shows that
		case err != nil:
			return Look{}, err
		case !info.Mode().IsRegular():
			return Look{}, fmt.Errorf("%w: %s is no regular file", ErrFolder, filepath.Join(dir, name))
		}
		if info.ModTime().After(look.changed) {
			look.changed = info.ModTime()
		}
		look.files = append(look.files, file{filepath.Join(dir, name), info.ModTime()})
		fmt.Fprintf(&text, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	look.signature = text.String()
	return look, nil
}

// isMounted tells whether Kubernetes has made the folder of a ConfigMap or a Secret: its files are links by this one, which it
// leads to other files when they change.
func isMounted(dir string) bool {
	link, err := os.Lstat(filepath.Join(dir, "..data"))
	return err == nil && link.Mode()&fs.ModeSymlink != 0
}

// Set is what the files of a folder say.
type Set struct {
	Jobs map[string]Entry // by their names
	// Version is that of what the files do not say. ByTime tells that versions are times of changes, in nanoseconds since
	// 1970: that of a job is its file's, and this one also the folder's, which alone changes when a file goes.
	Version int64
	ByTime  bool
	// Mounted says that the times are those of a mount. A pod that starts gets all of its files anew, however old they are.
	Mounted bool

	look Look // at the files as they were read
}

// Entry is what a file says of a job.
type Entry struct {
	Text    string // the configuration
	Version int64
}

// ahead is how far a clock may be behind that of whoever changed a file.
const ahead = time.Minute

// ErrMoving is the error of files that are changed while they are read.
var ErrMoving = errors.New("files of jobs are being changed")

// Reader reads folders. It takes apart only what it has not read before. The zero value is ready; it is for one goroutine.
type Reader struct {
	known map[string]content                                // by the path, of the files that were there the last time
	parse func(path string, known content) (content, error) // for tests; nil is parse
}

// content is what was found in a text.
type content struct {
	text [sha256.Size]byte
	file seed.File
	err  error
}

// Read reads a folder. All versions are the one given or, if it is 0, times. The error joins all faults, or is
// [ErrMoving], or why ctx has ended. It then does not wait for a file that is just being read, which goes on for as long as that takes.
func (r *Reader) Read(ctx context.Context, dir string, version int64, now time.Time) (Set, error) {
	look, err := LookAt(dir)
	if err != nil {
		return Set{}, err
	}
	set := Set{Jobs: make(map[string]Entry), Version: version, ByTime: version == 0, Mounted: look.mounted, look: look}
	var faults []error
	if set.ByTime {
		if look.changed.After(now) {
			look.changed = now
		}
		set.Version = versionOf(look.changed)
	}
	from, known := make(map[string]string), make(map[string]content)
	for _, f := range look.files {
		if ctx.Err() != nil {
			return Set{}, context.Cause(ctx)
		}
		of := version
		if set.ByTime {
			of = versionOf(f.changed)
			if f.changed.After(now.Add(ahead)) {
				faults = append(faults, fmt.Errorf("%w: %s was changed at %s, which is in the future: want a time up to now, or jobs.version",
					ErrFolder, f.path, f.changed.UTC().Format(time.RFC3339)))
			}
		}
		found, err := r.look(ctx, f.path)
		switch {
		case err != nil && ctx.Err() != nil:
			return Set{}, context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist): // it has just gone
		case err != nil:
			faults = append(faults, err)
		default:
			known[f.path] = found
			faults = append(faults, found.err)
		}
		for path, value := range found.file.Nodes() {
			at, _ := jobtree.Parse(path)
			switch other, twice := from[at.Job]; {
			case at.Kind != jobtree.KindConfig:
				faults = append(faults, fmt.Errorf("%w: %s says %s, which is up to operators: want configs alone", ErrFolder, f.path, path))
			case twice:
				faults = append(faults, fmt.Errorf("%w: job %q is in %s and in %s", ErrFolder, at.Job, other, f.path))
			default:
				from[at.Job], set.Jobs[at.Job] = f.path, Entry{value, of}
			}
		}
	}
	r.known = known
	if again, err := LookAt(dir); err != nil || !again.same(look) {
		return Set{}, errors.Join(ErrMoving, err)
	}
	return set, errors.Join(faults...)
}

// look says what is in a file, or why ctx has ended. Nothing ends the parser before it is through with a text, or the read of a
// file on a network that is away.
func (r *Reader) look(ctx context.Context, path string) (content, error) {
	type outcome struct {
		found content
		err   error
	}
	known, parse, done := r.known[path], r.parse, make(chan outcome, 1)
	if parse == nil {
		parse = parseFile
	}
	go func() {
		found, err := parse(path, known)
		done <- outcome{found, err}
	}()
	select {
	case <-ctx.Done():
		return content{}, context.Cause(ctx)
	case o := <-done:
		return o.found, o.err
	}
}

// parseFile reads a file, also one that looks the same, as sizes and times may stay; and takes it apart if it has another text than
// what is known of it.
func parseFile(path string, known content) (content, error) {
	text, err := read(path)
	if err != nil {
		return content{}, err
	}
	found := content{text: sha256.Sum256(text)}
	if known.text == found.text {
		return known, nil
	}
	parse := seed.ParseYAML
	if strings.EqualFold(filepath.Ext(path), ".properties") {
		parse = seed.ParseProperties
	}
	if found.file, err = parse(text); err != nil {
		found.err = fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// mostBytes bounds a file. Taking one of jobs apart needs fifty times as much memory, and one of YAML that is none, such as
// {a,a,a,…}, two hundred times as much and some seconds. It is room for some thousand jobs, and more may be in more files.
const mostBytes = 1 << 20

// read reads a file, unless it is so large that it is none of jobs.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var text []byte
	if info.Size() <= mostBytes { // and else it is not even read
		text, err = io.ReadAll(io.LimitReader(f, mostBytes+1))
	}
	if size := max(info.Size(), int64(len(text))); err == nil && size > mostBytes {
		err = fmt.Errorf("%w: %s has %d bytes: want at most %d MiB in one file of jobs", ErrFolder, path, size, mostBytes>>20)
	}
	return text, err
}

// versionOf makes a version of a time.
func versionOf(t time.Time) int64 { return max(t.UnixNano(), 1) }
