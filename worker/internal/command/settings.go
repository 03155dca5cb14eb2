//go:build linux

package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/elasticron/elasticron/worker/internal/allow"
	"github.com/elasticron/elasticron/worker/internal/cgroup"
	"github.com/elasticron/elasticron/worker/internal/output"
)

// Settings say which scripts run, and how. They do not change.
type Settings struct {
	Commands  allow.Commands
	User      *User         // nil: that of this process
	Directory string        // may have {job} and {item}; empty: that of this process
	Pass      []string      // names of variables
	EnvFiles  []string      // with further ones, whose values are secrets
	Stop      time.Duration // from SIGTERM to SIGKILL
	Keep      int           // bytes of the beginning and of the end of the output
	Files     output.Files
	// Groups make a cgroup for each run, with these limits, for which they are prepared. Without them, what ends a run's
	// processes is their process group, and for those that left it the variables of their environment.
	Groups *cgroup.Groups
	Limits cgroup.Limits
}

// User is as whom scripts run.
type User struct {
	name, home string
	credential syscall.Credential
}

// LookupUser finds a user by name or number, with all groups. Only root can run anything as another user.
func LookupUser(name string) (*User, error) {
	found, err := user.Lookup(name)
	if err != nil {
		byID, err2 := user.LookupId(name)
		if err2 != nil {
			return nil, err
		}
		found = byID
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(found.Gid, 10, 32)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	u := &User{name: found.Username, home: found.HomeDir, credential: syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	if me := os.Geteuid(); me != 0 {
		if uint64(me) != uid {
			return nil, fmt.Errorf("this process runs as the user %d, and only root can run scripts as another", me)
		}
		u.credential.NoSetGroups = true
		return u, nil
	}
	groups, err := found.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, group := range groups {
		id, err := strconv.ParseUint(group, 10, 32)
		if err != nil {
			return nil, err
		}
		u.credential.Groups = append(u.credential.Groups, uint32(id))
	}
	return u, nil
}

// making is held while a folder is made.
var making sync.Mutex

// directory returns where a script runs, and makes the folder if its place depends on the job. What is made belongs to
// the user, and the folders above to this process, so that a script cannot lead another one elsewhere by a link.
func (s *Settings) directory(job string, item int) (string, error) {
	base, template, templated := strings.Cut(s.Directory, "{")
	if !templated {
		return s.Directory, nil
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // it was only read
	making.Lock()      // items may share a folder, which is nobody's for a moment
	defer making.Unlock()
	below := strings.NewReplacer("{job}", job, "{item}", strconv.Itoa(item)).Replace("{" + template)
	below = filepath.Clean(below)
	if above := filepath.Dir(below); above != "." {
		if err := root.MkdirAll(above, 0o711); err != nil {
			return "", err
		}
	}
	err = root.Mkdir(below, 0o700)
	existed := errors.Is(err, fs.ErrExist)
	if existed && s.User != nil && int64(s.User.credential.Uid) != int64(os.Geteuid()) {
		unfinished, err := isUnfinished(root, below)
		if err != nil {
			return "", err
		}
		existed = !unfinished
	}
	switch {
	case existed:
	case err != nil && !errors.Is(err, fs.ErrExist):
		return "", err
	case s.User != nil:
		err = root.Lchown(below, int(s.User.credential.Uid), int(s.User.credential.Gid))
		if err != nil {
			return "", errors.Join(err, root.Remove(below))
		}
	}
	info, err := root.Stat(below)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder", filepath.Join(base, below))
	}
	if existed && s.User != nil {
		err = s.User.mayEnter(root, below, info)
	}
	return filepath.Join(base, below), err
}

// isUnfinished tells whether a folder is as a worker leaves it that is killed before it could give it to the user.
func isUnfinished(root *os.Root, folder string) (bool, error) {
	info, err := root.Lstat(folder)
	if err != nil {
		return false, err
	}
	stat, is := info.Sys().(*syscall.Stat_t)
	if !is || info.Mode() != fs.ModeDir|0o700 || int64(stat.Uid) != int64(os.Geteuid()) {
		return false, nil
	}
	dir, err := root.Open(folder)
	if err != nil {
		return false, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	_, err = dir.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// mayEnter tells why a folder that was there is not the user's, though it is one person's alone: then it is that of a former
// user.
func (u *User) mayEnter(root *os.Root, folder string, info fs.FileInfo) error {
	stat, is := info.Sys().(*syscall.Stat_t)
	if !is || info.Mode().Perm()&0o077 != 0 || stat.Uid == u.credential.Uid || u.credential.Uid == 0 {
		return nil
	}
	return fmt.Errorf("%s belongs to the user id %d, want that of script.user, %d: change its owner, or remove it",
		filepath.Join(root.Name(), folder), stat.Uid, u.credential.Uid)
}

// defaultPath is where scripts find programs if this process has no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment returns the variables of a script but for what it runs, and the secrets among their values.
func (s *Settings) environment() (variables, secrets []string, err error) {
	path := os.Getenv("PATH")
	if path == "" {
		path = defaultPath
	}
	variables = append(variables, "PATH="+path)
	if s.User != nil {
		variables = append(variables, "HOME="+s.User.home, "USER="+s.User.name, "LOGNAME="+s.User.name)
	}
	for _, name := range append([]string{"LANG"}, s.Pass...) {
		if value, is := os.LookupEnv(name); is {
			variables = append(variables, name+"="+value)
		}
	}
	for _, file := range s.EnvFiles {
		more, err := readVariables(file)
		if err != nil {
			return nil, nil, err
		}
		for _, variable := range more {
			_, value, _ := strings.Cut(variable, "=")
			secrets = append(secrets, value)
		}
		variables = append(variables, more...)
	}
	return variables, secrets, nil
}

// readVariables reads the lines NAME=value of a file. Empty lines, and those that begin with #, say nothing; quotes are
// characters like others. No error quotes a value.
func readVariables(file string) (variables []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, _, found := strings.Cut(line, "=")
		if !found || name == "" || strings.ContainsAny(name, " \t\x00") || strings.ContainsRune(line, 0) {
			return nil, fmt.Errorf("%s:%d: the line must be NAME=value", file, number)
		}
		variables = append(variables, line)
	}
	return variables, nil
}
