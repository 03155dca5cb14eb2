package access

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	annasPassword = "correct horse battery"
	// annasHash is of her password, and nobodysSum of a token that was thrown away.
	nobodysSum = "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"
)

var annasHash = func() string {
	hash, err := HashPassword(annasPassword)
	if err != nil {
		panic(err)
	}
	return hash
}()

func TestUsersFile(t *testing.T) {
	t.Parallel()
	d, err := parseUsers([]byte(`
users:
  anna:
    password: ` + annasHash + `
    generation: 3
    grants: [{role: operator, namespace: shop, jobs: "orders-*"}]
  ben@example.com: {}
groups:
  sre:
    grants: [{role: admin, namespace: "*"}]
  nothing: {}
tokens:
  deploy:
    sha256: ` + nobodysSum + `
    end: 2027-01-01T00:00:00Z
    grants: [{role: viewer, namespace: shop, jobs: &some 7}, {role: viewer, namespace: shop, jobs: *some}]
`))
	require.NoError(t, err)
	require.Equal(t, 3, d.users["anna"].generation)
	require.Equal(t, []Grant{{Operator, "shop", "orders-*"}, {Admin, "*", ""}}, d.grantsOf("anna", []string{"sre", "unknown"}))
	require.Empty(t, d.grantsOf("ben@example.com", nil))
	require.Equal(t, []string{"sre"}, d.known([]string{"sre", "nothing", "sre", "unknown"}))
	require.Len(t, d.tokens, 1)
	for _, token := range d.tokens {
		require.Equal(t, []Grant{{Viewer, "shop", "7"}, {Viewer, "shop", "7"}}, token.grants)
	}
	empty, err := parseUsers(nil)
	require.NoError(t, err)
	require.Empty(t, empty.users)
	ended, err := parseUsers([]byte("---\nusers: {anna: {}}\n---\n# nothing follows\n"))
	require.NoError(t, err)
	require.Len(t, ended.users, 1)
}

func TestFaultyUsersFiles(t *testing.T) {
	t.Parallel()
	const twice = "{sha256: " + nobodysSum + ", end: 2027-01-01T00:00:00Z}"
	for text, wanted := range map[string]string{
		"users: {anna: {password: secret-word}}":                                            `users.anna: invalid password: it must be "$argon2id$v=19$m=19456,t=2,p=1$"`,
		"users: {anna: {generation: -1}}":                                                   "users.anna: invalid generation -1: it must not be negative",
		"users: {anna: {grants: [{role: root, namespace: shop}]}}":                          `users.anna: grants.0: invalid role "root": it must be one of viewer, operator and admin`,
		"users: {anna: {grants: [{role: admin}]}}":                                          `users.anna: grants.0: invalid namespace ""`,
		"groups: {g: {grants: [{role: admin, namespace: a, jobs: '['}]}}":                   `groups.g: grants.0: invalid jobs "["`,
		"users: {anna: {grants: [{role: admin, namespace: a, jobs: }]}}":                    `users.anna: grants.0: invalid jobs "": leave it out or say "*"`,
		"users: {anna: {grants: [{role: viewer, namespace: a}, {jobs: ''}]}}":               `users.anna: grants.1: invalid jobs ""`,
		"groups: {g: {grants: [{role: admin, namespace: a, jobs: ~}]}}":                     `groups.g: grants.0: invalid jobs ""`,
		"tokens: {ci: {grants: [{jobs: ''}], sha256: " + nobodysSum + ", end: 2027-01-01}}": `tokens.ci: grants.0: invalid jobs ""`,
		"users: {anna: {grants: [{role: admin, namespace: &a , jobs: *a}]}}":                `users.anna: grants.0: invalid jobs ""`,
		"users: {anna: {grants: [{role: admin, namespace: a, jobs: [secret-word]}]}}":       "users.anna: grants.0: invalid jobs: line 1: a value of another kind is wanted",
		"users: {anna: {grants: [{role: admin, namespace: a, job: secret-word}]}}":          "line 1: there is no job; known are users",
		"tokens: {ci: {sha256: abc, end: 2027-01-01T00:00:00Z}}":                            "tokens.ci: invalid sha256: it must be 64 hexadecimal digits",
		"tokens: {ci: {sha256: " + nobodysSum + "}}":                                        "tokens.ci: invalid end: it must say when the token ends",
		"users: {'': {}}":                                "invalid name: it must have 1 to 128 bytes",
		"users: {anna: {pasword: secret-word}}":          "line 1: there is no pasword; known are users",
		"users: {anna: {password: a, t=secret-word: b}}": "line 1: a value of another kind is wanted",
		"users: secret-word":                             "line 1: a value of another kind is wanted",
		"users: [secret-word":                            "invalid users file: it is no YAML",
		"users: {}\n---\ntokens: {secret-word: {}}":      "invalid users file: it has more than one YAML document",
		"users: {}\n---\n[secret-word":                   "invalid users file: it has more than one YAML document",
		"tokens: {a: " + twice + ", b: " + twice + "}":   `tokens.b: invalid sha256: it is that of "a"`,
	} {
		_, err := parseUsers([]byte(text))
		require.ErrorIs(t, err, ErrInvalid, text)
		require.ErrorContains(t, err, wanted)
		require.NotContains(t, err.Error(), "secret-word")
	}
}

// A file that changes is in force within seconds, one that is broken changes nothing, and the log quotes no secret.
func TestTheUsersFileIsReadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.yaml")
	write := func(text string) { writeUsers(t, path, text) }
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		write("users: {anna: {password: '" + annasHash + "'}}")
		f, err := openUsers(path, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		write("users: {ben: {}}")
		require.Contains(t, f.current().users, "anna", "the file is not looked at for each request")
		time.Sleep(rereadEvery)
		require.Contains(t, f.current().users, "ben")
		write("users: {ben: {password: secret-word}}")
		for range 3 {
			time.Sleep(rereadEvery)
			require.Contains(t, f.current().users, "ben")
		}
		require.Equal(t, 1, strings.Count(log.String(), "the one before is in force"), "one cause, one line")
		require.NoError(t, os.Remove(path))
		time.Sleep(rereadEvery)
		require.Contains(t, f.current().users, "ben")
		write("users: {cleo: {}}")
		time.Sleep(rereadEvery)
		require.Contains(t, f.current().users, "cleo")
		require.NotContains(t, log.String(), "secret-word")
		require.NotContains(t, log.String(), "argon2id$v=19$m=19456,t=2,p=1$"+annasHash[len(hashPrefix):])
	})
	_, err := openUsers(filepath.Join(t.TempDir(), "none"), slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// writeUsers writes a users file as of now, by the clock of a bubble too.
func writeUsers(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chtimes(path, time.Now(), time.Now()))
}

// What is still being written does not count: without its last lines, a file says less of people and more of grants.
func TestHalfAUsersFile(t *testing.T) {
	t.Parallel()
	const (
		whole = "groups:\n  ops:\n    grants:\n    - role: operator\n      namespace: shop\n"
		limit = "      jobs: orders-*\n"
	)
	path := filepath.Join(t.TempDir(), "users.yaml")
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		writeUsers(t, path, whole+limit)
		f, err := openUsers(path, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		jobs := func() string { return f.current().groups["ops"][0].Jobs }
		for _, text := range []string{"", whole, "groups: [", whole + "      jobs: orders-a*\n"} { // each a moment before it is looked at
			time.Sleep(rereadEvery - standsFor/2)
			writeUsers(t, path, text)
			time.Sleep(standsFor / 2)
			require.Equal(t, "orders-*", jobs())
		}
		require.Empty(t, log.String(), "nothing is wrong with a file that is being written")
		time.Sleep(rereadEvery)
		require.Equal(t, "orders-a*", jobs())

		writeUsers(t, path, whole+limit)
		at := time.Now().Add(time.Hour) // by a clock that is wrong
		require.NoError(t, os.Chtimes(path, at, at))
		time.Sleep(rereadEvery)
		require.Equal(t, "orders-a*", jobs())
		time.Sleep(rereadEvery)
		require.Equal(t, "orders-*", jobs(), "it was the same twice")
	})
}

// A file that is emptied is one that was not written: a disk was full. Who wants nobody to be let in says so.
func TestAUsersFileThatBecomesEmpty(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.yaml")
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		says := func(f *usersFile, text string) *directory {
			writeUsers(t, path, text)
			time.Sleep(rereadEvery)
			return f.current()
		}
		writeUsers(t, path, "# nobody yet\n")
		f, err := openUsers(path, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		says(f, "")
		require.NotContains(t, log.String(), "level=ERROR", "it was empty from the start")
		require.Contains(t, says(f, "users: {anna: {}}").users, "anna")
		for _, text := range []string{"", "\n# nobody\n", "users:\n", "---\n"} {
			require.Contains(t, says(f, text).users, "anna", text)
		}
		require.Equal(t, 1, strings.Count(log.String(), "level=ERROR"))
		require.Contains(t, log.String(), "it has become empty")
		require.Empty(t, says(f, "users: {}").users)
	})
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	p, err := parseHash(annasHash)
	require.NoError(t, err)
	require.Equal(t, annasHash, p.String())
	h := newHasher()
	for password, right := range map[string]bool{annasPassword: true, annasPassword + " ": false, "": false} {
		matches, err := h.matches(t.Context(), password, &p)
		require.NoError(t, err)
		require.Equal(t, right, matches, password)
	}
	matches, err := h.matches(t.Context(), "", nil)
	require.NoError(t, err)
	require.False(t, matches, "nobody has a password")
	for _, password := range []string{"", "short", strings.Repeat("x", MaxPassword+1)} {
		_, err := HashPassword(password)
		require.ErrorIs(t, err, ErrInvalid)
	}
	again, err := HashPassword(annasPassword)
	require.NoError(t, err)
	require.NotEqual(t, annasHash, again, "each has a salt of its own")
}

// Four hashes are made at once; a fifth waits, and not for ever.
func TestHashingIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher()
		for range hashingAtOnce {
			h.slots <- struct{}{}
		}
		result := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), hashWithin)
		defer cancel()
		go func() {
			_, err := h.matches(ctx, "x", nil)
			result <- err
		}()
		synctest.Wait()
		require.Empty(t, result)
		require.Error(t, <-result)
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	token, stored := NewToken()
	other, _ := NewToken()
	require.NotEqual(t, token, other)
	sum, is := sumOfToken(token)
	require.True(t, is)
	d, err := parseUsers([]byte("tokens: {ci: {sha256: " + stored + ", end: 2027-01-01T00:00:00Z}}"))
	require.NoError(t, err)
	require.Contains(t, d.tokens, sum)
	for _, text := range []string{"", "elasticron_", token + "A", token[:len(token)-1], "x" + token, "elasticron_" + strings.Repeat("!", 43)} {
		_, is := sumOfToken(text)
		require.False(t, is, text)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	one, two := NewKey(), NewKey()
	keys, err := parseKeys([]byte(one + "\r\n" + two + "\n"))
	require.NoError(t, err)
	require.Len(t, keys, 2)
	for text, wanted := range map[string]string{
		"":                            "invalid key in line 1: it must be 64 bytes in base64",
		one + "\nsecret-word":         "invalid key in line 2",
		one[:40]:                      "invalid key in line 1",
		one + "\n" + two + "\n" + one: "there are 3 keys, and may be two",
	} {
		_, err := parseKeys([]byte(text))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, wanted)
		require.NotContains(t, err.Error(), "secret-word")
	}
}

func TestListening(t *testing.T) {
	t.Parallel()
	for address, loopback := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "localhost:80": true, "127.8.9.1:80": true, "[::ffff:127.0.0.1]:80": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "example.com:80": false, "localhost.evil.com:80": false,
	} {
		require.NoError(t, CheckListen(address, true), address)
		require.Equal(t, loopback, CheckListen(address, false) == nil, address)
	}
	require.ErrorIs(t, CheckListen("80", true), ErrInvalid)
}

func FuzzUsersFile(f *testing.F) {
	f.Add([]byte("users: {anna: {password: '" + hashPrefix + "AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', grants: [{role: admin, namespace: '*'}]}}"))
	f.Add([]byte("tokens: {ci: {sha256: " + nobodysSum + ", end: 2027-01-01T00:00:00Z}}\ngroups: {g: {}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parseUsers(text)
		if err != nil {
			require.Nil(t, d)
			return
		}
		for name, u := range d.users {
			require.NoError(t, checkName(name))
			for _, g := range u.grants {
				require.NoError(t, g.check())
			}
			if u.password != nil {
				again, err := parseHash(u.password.String())
				require.NoError(t, err)
				require.Equal(t, *u.password, again)
			}
		}
		for _, token := range d.tokens {
			require.False(t, token.end.IsZero())
		}
	})
}

func FuzzToken(f *testing.F) {
	token, _ := NewToken()
	f.Add("Bearer " + token)
	f.Add("bearer " + tokenPrefix)
	f.Fuzz(func(t *testing.T, header string) {
		token, is := bearer(header)
		if _, right := sumOfToken(token); is && right {
			require.True(t, strings.HasSuffix(strings.TrimSpace(header), token))
			require.Len(t, token, len(tokenPrefix)+43)
		}
	})
}
