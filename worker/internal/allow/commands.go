package allow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrRefused is the error of what no list allows.
var ErrRefused = errors.New("not allowed")

// everything is what allows all, and has to be spelt out.
const everything = "*"

// Commands is a list of programs. It is immutable.
type Commands struct{ patterns []string }

// NewCommands makes a list of absolute paths in which "*" and "?" stand for a part of one segment, as in
// [filepath.Match]. The single word "*" allows everything. An empty list is an error, as nobody means it.
func NewCommands(patterns []string) (Commands, error) {
	if len(patterns) == 0 {
		return Commands{}, errors.New(`the list is missing: want paths such as /opt/jobs/*, or "*" for everything`)
	}
	var faults []error
	for _, p := range patterns {
		if p == everything {
			continue
		}
		if _, err := filepath.Match(p, ""); err != nil || !filepath.IsAbs(p) || filepath.Clean(p) != p {
			faults = append(faults, fmt.Errorf(`%q must be an absolute path without "..", such as /opt/jobs/*`, p))
		}
	}
	return Commands{slices.Clone(patterns)}, errors.Join(faults...)
}

// String is the list as it was given.
func (c Commands) String() string { return strings.Join(c.patterns, ", ") }

// Judge tells what is known before a command is run: that it is no absolute path, or that nothing of this name is allowed. A
// command whose path is on the list as it is written is for [Commands.Resolve] to judge, when it runs: it may not be there yet.
func (c Commands) Judge(command string) error {
	if !filepath.IsAbs(command) {
		return fmt.Errorf("%w: %q is no absolute path, and nothing is looked up in PATH", ErrRefused, command)
	}
	for _, p := range c.patterns {
		if is, _ := filepath.Match(p, filepath.Clean(command)); is || p == everything {
			return nil
		}
	}
	if real, err := filepath.EvalSymlinks(command); err == nil && c.allows(command, real) { // by another name
		return nil
	}
	return fmt.Errorf("%w: %s is none of %s", ErrRefused, command, strings.Join(c.patterns, ", "))
}

// Resolve finds what a command is after all symbolic links, and returns its path, which has none, if it is allowed. Run
// that path, and at once.
//
// A file, or a folder on its way, that everybody may write to is refused: a stranger could put another program there
// after it was looked at. Sticky folders such as /tmp are none of these. Whoever else can write to an allowed folder
// decides what runs, whenever it is looked at.
func (c Commands) Resolve(command string) (string, error) {
	if !filepath.IsAbs(command) {
		return "", fmt.Errorf("%w: %q is no absolute path, and nothing is looked up in PATH", ErrRefused, command)
	}
	real, err := filepath.EvalSymlinks(command)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%w: %s is no regular file", ErrRefused, command)
	case !c.allows(command, real):
		is := ""
		if real != filepath.Clean(command) {
			is = ", which is " + real + ","
		}
		return "", fmt.Errorf("%w: %s%s is none of %s", ErrRefused, command, is, strings.Join(c.patterns, ", "))
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return "", err
		}
		if everybody := info.Mode().Perm()&0o002 != 0; everybody && info.Mode()&os.ModeSticky == 0 {
			return "", fmt.Errorf("%w: everybody may write to %s, on the way of %s", ErrRefused, at, command)
		}
		if at == filepath.Dir(at) {
			return real, nil
		}
	}
}

// allows tells whether a command is on the list, which is real without symbolic links. One program may go by many names, and do
// for each what that says: where all of /bin are links to one, a list that names one of them allows no other. So the name has
// to be on the list, too, unless it is the program's own.
func (c Commands) allows(command, real string) bool {
	folder, err := filepath.EvalSymlinks(filepath.Dir(command))
	if err != nil {
		return false
	}
	named := filepath.Join(folder, filepath.Base(command))
	for _, p := range c.patterns {
		if p == everything {
			return true
		}
		plain := filepath.Join(resolved(filepath.Dir(p)), filepath.Base(p))
		program := resolved(p)
		own := program == plain && filepath.Base(command) == filepath.Base(real)
		is, _ := filepath.Match(program, real)
		goesBy, _ := filepath.Match(plain, named)
		if is && (own || goesBy) {
			return true
		}
	}
	return false
}

// resolved follows the symbolic links of a pattern as far as it is plain: on most machines /bin is one, and so is
// /bin/sh.
func resolved(pattern string) string {
	plain := pattern
	for strings.ContainsAny(plain, `*?[\`) {
		plain = filepath.Dir(plain)
	}
	real, err := filepath.EvalSymlinks(plain)
	if err != nil {
		return pattern
	}
	return filepath.Join(quoted(real), strings.TrimPrefix(pattern, plain))
}

// quoted makes a path a pattern for itself.
func quoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
