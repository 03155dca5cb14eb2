package access

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxUsersFile is how long a users file may be, in bytes.
const maxUsersFile = 8 << 20

// directory is what a users file says. It never changes.
type directory struct {
	users  map[string]user
	groups map[string][]Grant
	tokens map[tokenSum]token
	blank  bool // the file has none of the three, not even as an empty one
}

type user struct {
	password   *passwordHash // nil: not with a password
	generation int
	grants     []Grant
}

type token struct {
	name   string
	end    time.Time
	grants []Grant
}

// The texts of the file.
type (
	fileText struct {
		Users  map[string]userText  `yaml:"users"`
		Groups map[string]groupText `yaml:"groups"`
		Tokens map[string]tokenText `yaml:"tokens"`
	}
	userText struct {
		Password   string      `yaml:"password"`
		Generation int         `yaml:"generation"`
		Grants     []grantText `yaml:"grants"`
	}
	groupText struct {
		Grants []grantText `yaml:"grants"`
	}
	tokenText struct {
		SHA256 string      `yaml:"sha256"`
		End    time.Time   `yaml:"end"`
		Grants []grantText `yaml:"grants"`
	}
	// grantText tells a pattern that is not there, which is all jobs, from one that a template has left empty.
	grantText struct {
		Role      Role      `yaml:"role"`
		Namespace string    `yaml:"namespace"`
		Jobs      yaml.Node `yaml:"jobs"`
	}
)

// parseUsers reads a users file. Errors name the place and quote no secret.
func parseUsers(text []byte) (*directory, error) {
	var file fileText
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w users file: %w", ErrInvalid, withoutValues(err))
	}
	for {
		var more any // which nobody would hear of
		if err := decoder.Decode(&more); errors.Is(err, io.EOF) {
			break
		} else if err != nil || more != nil {
			return nil, fmt.Errorf("%w users file: it has more than one YAML document", ErrInvalid)
		}
	}
	d := &directory{blank: file.Users == nil && file.Groups == nil && file.Tokens == nil}
	d.users, d.groups, d.tokens = make(map[string]user), make(map[string][]Grant), make(map[tokenSum]token)
	for _, name := range slices.Sorted(maps.Keys(file.Users)) {
		if err := d.addUser(name, file.Users[name]); err != nil {
			return nil, fmt.Errorf("users.%s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Groups)) {
		var err error
		if d.groups[name], err = readGrants(file.Groups[name].Grants); err != nil {
			return nil, fmt.Errorf("groups.%s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Tokens)) {
		if err := d.addToken(name, file.Tokens[name]); err != nil {
			return nil, fmt.Errorf("tokens.%s: %w", name, err)
		}
	}
	return d, nil
}

// unknownField matches what the decoder says of a name that it does not know. What looks like none may be a part of a
// value.
var unknownField = regexp.MustCompile(`^field ([a-z_A-Z]{1,24}) not found in type`)

// withoutValues returns what a decoder's error says of the place alone: it quotes values, which may be secret.
func withoutValues(err error) error {
	var mismatch *yaml.TypeError
	if !errors.As(err, &mismatch) {
		return errors.New("it is no YAML")
	}
	var places []string
	for _, text := range mismatch.Errors {
		line, rest, _ := strings.Cut(text, ": ")
		if name := unknownField.FindStringSubmatch(rest); name != nil {
			line += ": there is no " + name[1] + "; known are users, groups, tokens, password, generation, grants, role, namespace, jobs, sha256 and end"
		} else {
			line += ": a value of another kind is wanted"
		}
		places = append(places, line)
	}
	return errors.New(strings.Join(places, "; "))
}

func (d *directory) addUser(name string, text userText) error {
	if err := checkName(name); err != nil {
		return err
	}
	u := user{generation: text.Generation}
	if text.Generation < 0 {
		return fmt.Errorf("%w generation %d: it must not be negative", ErrInvalid, text.Generation)
	}
	if text.Password != "" {
		hash, err := parseHash(text.Password)
		if err != nil {
			return fmt.Errorf("%w password: %w", ErrInvalid, err)
		}
		u.password = &hash
	}
	grants, err := readGrants(text.Grants)
	u.grants = grants
	d.users[name] = u
	return err
}

func (d *directory) addToken(name string, text tokenText) error {
	if err := checkName(name); err != nil {
		return err
	}
	var sum tokenSum
	if bytes, err := hex.DecodeString(text.SHA256); err != nil || len(bytes) != len(sum) {
		return fmt.Errorf(`%w sha256: it must be 64 hexadecimal digits: make them with "elasticron server token"`, ErrInvalid)
	} else {
		copy(sum[:], bytes)
	}
	if text.End.IsZero() {
		return fmt.Errorf("%w end: it must say when the token ends, such as 2027-01-01T00:00:00Z", ErrInvalid)
	}
	if other, is := d.tokens[sum]; is {
		return fmt.Errorf("%w sha256: it is that of %q", ErrInvalid, other.name)
	}
	grants, err := readGrants(text.Grants)
	d.tokens[sum] = token{name: name, end: text.End, grants: grants}
	return err
}

// maxName is how long the name of a user may be, in bytes: it is written into every operation.
const maxName = 128

func checkName(name string) error {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, control) {
		return fmt.Errorf("%w name: it must have 1 to %d bytes and no control characters", ErrInvalid, maxName)
	}
	return nil
}

func readGrants(texts []grantText) (grants []Grant, err error) {
	for i, text := range texts {
		g, err := text.grant()
		if err != nil {
			return nil, fmt.Errorf("grants.%d: %w", i, err)
		}
		grants = append(grants, g)
	}
	return grants, nil
}

func (text grantText) grant() (Grant, error) {
	g := Grant{Role: text.Role, Namespace: text.Namespace}
	if !text.Jobs.IsZero() {
		if err := text.Jobs.Decode(&g.Jobs); err != nil {
			return Grant{}, fmt.Errorf("%w jobs: %w", ErrInvalid, withoutValues(err))
		}
		if g.Jobs == "" {
			return Grant{}, fmt.Errorf(`%w jobs "": leave it out or say "*" for all, or name a pattern such as "orders-*"`, ErrInvalid)
		}
	}
	return g, g.check()
}

// grantsOf returns what a user and their groups are granted.
func (d *directory) grantsOf(name string, groups []string) []Grant {
	grants := slices.Clone(d.users[name].grants)
	for _, group := range groups {
		grants = append(grants, d.groups[group]...)
	}
	return grants
}

// known returns those of the groups that the file grants anything, in order.
func (d *directory) known(groups []string) []string {
	kept := slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return len(d.groups[g]) == 0 })
	slices.Sort(kept)
	return slices.Compact(kept)
}

// rereadEvery is how often the users file is looked at, at most. After standsFor without a change, nobody is writing it any
// more.
const (
	rereadEvery = 2 * time.Second
	standsFor   = time.Second
)

// usersFile is a users file that is read again when it changes.
type usersFile struct {
	path   string
	logger *slog.Logger

	mu     sync.Mutex
	now    *directory
	looked time.Time
	text   []byte // of now
	seen   []byte // what the file had in it at the last look; nil if it was not read
	failed string
}

// openUsers reads a file; an empty path is a file that says nothing.
func openUsers(path string, logger *slog.Logger) (*usersFile, error) {
	f := &usersFile{path: path, logger: logger, now: &directory{}, looked: time.Now()}
	if path == "" {
		return f, nil
	}
	text, _, err := readLimited(path)
	if err != nil {
		return nil, fmt.Errorf("read the users file: %w", err)
	}
	if f.now, err = parseUsers(text); err != nil {
		return nil, fmt.Errorf("users file %s: %w", path, err)
	}
	f.text = text
	return f, nil
}

// readLimited reads a file, and tells since when it has been as it was read.
func readLimited(path string) (text []byte, since time.Time, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer func() { _ = file.Close() }()
	text, err = io.ReadAll(io.LimitReader(file, maxUsersFile+1))
	if err == nil && len(text) > maxUsersFile {
		err = fmt.Errorf("%w: it has more than %d bytes", ErrInvalid, maxUsersFile)
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := file.Stat() // after all was read: what is written meanwhile makes it younger
	if err != nil {
		return nil, time.Time{}, err
	}
	return text, info.ModTime(), nil
}

// current returns what the file says. Nothing is read for two seconds after it was looked at. A text that is another one counts
// when nobody writes it any more: half of it may lack people, or what limits a grant.
func (f *usersFile) current() *directory {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if f.path == "" || now.Sub(f.looked) < rereadEvery {
		return f.now
	}
	f.looked = now
	text, since, err := readLimited(f.path)
	stands := err == nil && (now.Sub(since) >= standsFor || f.seen != nil && bytes.Equal(text, f.seen))
	f.seen = text
	switch {
	case err != nil:
		f.fail(err)
	case bytes.Equal(text, f.text):
		f.failed = ""
	case stands:
		f.take(text)
	}
	return f.now
}

// take has a text be in force, unless it is wrong.
func (f *usersFile) take(text []byte) {
	read, err := parseUsers(text)
	if err == nil && read.blank && !f.now.blank { // rather a disk that was full than somebody who wants nobody to be let in
		err = fmt.Errorf(`%w users file: it has become empty: want "users: {}" if nobody is to have any rights`, ErrInvalid)
	}
	if err != nil {
		f.fail(err)
		return
	}
	f.now, f.text, f.failed = read, text, ""
	f.logger.Info("the users file was read again", "file", f.path, "users", len(read.users), "groups", len(read.groups), "tokens", len(read.tokens))
}

// fail tells why the file does not count, once for each reason.
func (f *usersFile) fail(err error) {
	if f.failed != err.Error() {
		f.failed = err.Error()
		f.logger.Error("the users file cannot be used, and the one before is in force", "file", f.path, "error", err)
	}
}
