package callback_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job/httpjob/callback"
)

var (
	oldKey = []byte("sixteen bytes, at least")
	newKey = []byte("and another one, quite new")
)

// signed is a call as it arrives.
func signed(t *testing.T, at time.Time, method, path, body string, keys ...[]byte) *http.Request {
	t.Helper()
	signer, err := callback.NewSigner(keys)
	require.NoError(t, err)
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	signer.Sign(req, []byte(body), at)
	return req
}

// The signature is that which anybody computes from the documentation.
func TestTheFormat(t *testing.T) {
	t.Parallel()
	req := signed(t, time.Unix(1767225600, 0), "POST", "/jobs/settle.json?day=1.5", "body", []byte("0123456789abcdef"))
	require.Equal(t, "t=1767225600,v1=bb9e45f1eb3cff26014592539c385290b0acc72300e1f13ad7f1d50c28caabe0", req.Header.Get(callback.Header))
}

// A request that no server has read may have no body at all.
func TestNoBody(t *testing.T) {
	t.Parallel()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/settle", nil)
	require.NoError(t, err)
	signer, err := callback.NewSigner([][]byte{newKey})
	require.NoError(t, err)
	signer.Sign(req, nil, time.Now())
	verifier, err := callback.NewVerifier([][]byte{newKey})
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(req))
	body, err := io.ReadAll(req.Body)
	require.NoError(t, err)
	require.Empty(t, body)
}

// cases are calls with whether they are genuine, by who judges: a receiver that knows keys.
func cases(t *testing.T, now time.Time) map[string]struct {
	call    *http.Request
	keys    [][]byte
	genuine bool
} {
	t.Helper()
	type one = struct {
		call    *http.Request
		keys    [][]byte
		genuine bool
	}
	call := func(change func(*http.Request)) *http.Request {
		req := signed(t, now, "POST", "/a.b/c%20d?x=1.5&y=%2F", "line 1\nline 2\x00\xff", newKey)
		if change != nil {
			change(req)
		}
		return req
	}
	body := func(text string) func(*http.Request) {
		return func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(text)) }
	}
	header := func(text string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(callback.Header, text) }
	}
	signature := call(nil).Header.Get(callback.Header)
	moved := call(func(r *http.Request) { r.RequestURI = "/a" })
	moved.Body = io.NopCloser(strings.NewReader("b/c%20d?x=1.5&y=%2F.line 1\nline 2\x00\xff"))
	return map[string]one{
		"genuine":                     {call(nil), [][]byte{newKey}, true},
		"an empty body":               {signed(t, now, "GET", "/", "", newKey), [][]byte{newKey}, true},
		"the receiver knows both":     {call(nil), [][]byte{oldKey, newKey}, true},
		"signed with both, old known": {signed(t, now, "PUT", "/a", "b", newKey, oldKey), [][]byte{oldKey}, true},
		"signed with both, new known": {signed(t, now, "PUT", "/a", "b", oldKey, newKey), [][]byte{newKey}, true},
		"an unknown version beside":   {call(header(signature + ",v2=abc")), [][]byte{newKey}, true},
		"another key":                 {call(nil), [][]byte{oldKey}, false},
		"another body":                {call(body("line 1\nline 2\x00\xfe")), [][]byte{newKey}, false},
		"another method":              {call(func(r *http.Request) { r.Method = "PUT" }), [][]byte{newKey}, false},
		"another path":                {call(func(r *http.Request) { r.RequestURI = "/a.b/c%20d?x=1.6&y=%2F" }), [][]byte{newKey}, false},
		"path moved into the body":    {moved, [][]byte{newKey}, false},
		"another time":                {call(header("t=1" + strings.TrimPrefix(signature, "t="))), [][]byte{newKey}, false},
		"an old call":                 {signed(t, now.Add(-time.Hour), "GET", "/", "", newKey), [][]byte{newKey}, false},
		"a call of tomorrow":          {signed(t, now.Add(time.Hour), "GET", "/", "", newKey), [][]byte{newKey}, false},
		"no signature":                {call(header("t=" + strconv.FormatInt(now.Unix(), 10))), [][]byte{newKey}, false},
		"rubbish":                     {call(header("v1=zz,t=,,=")), [][]byte{newKey}, false},
	}
}

func TestVerifyInGo(t *testing.T) {
	t.Parallel()
	for name, c := range cases(t, time.Now()) {
		verifier, err := callback.NewVerifier(c.keys)
		require.NoError(t, err)
		served := false
		answer := httptest.NewRecorder()
		verifier.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			served = true
			_, err := io.ReadAll(r.Body)
			require.NoError(t, err)
		})).ServeHTTP(answer, c.call)
		require.Equal(t, c.genuine, served, name)
		require.Equal(t, map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[c.genuine], answer.Code, name)
	}
}

// files writes keys as programs read them, with the end of a line.
func files(t *testing.T, keys [][]byte) (names []string) {
	t.Helper()
	for i, key := range keys {
		name := filepath.Join(t.TempDir(), strconv.Itoa(i))
		require.NoError(t, os.WriteFile(name, append(bytes.Clone(key), '\n'), 0o600))
		names = append(names, name)
	}
	return names
}

// program runs one of the verifiers, or skips the test where it cannot run.
func program(t *testing.T, in io.Reader, name string, args ...string) (int, string) {
	t.Helper()
	return programIn(t, os.Environ(), in, name, args...)
}

func programIn(t *testing.T, environ []string, in io.Reader, name string, args ...string) (int, string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not on this machine", name)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env, cmd.Stdin = environ, in
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func TestVerifyInAShell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not on this machine")
	}
	for name, c := range cases(t, time.Now()) {
		args := []string{"verify.sh", c.call.Header.Get(callback.Header), c.call.Method, c.call.RequestURI}
		status, text := program(t, c.call.Body, "sh", append(args, files(t, c.keys)...)...)
		require.Equal(t, map[bool]int{true: 0, false: 1}[c.genuine], status, "%s: %s", name, text)
	}
}

// tools makes a folder of the programs that the shell's verifier runs, with an openssl that is this script: none if it is "".
func tools(t *testing.T, openssl string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, name := range []string{"cat", "date", "mktemp", "od", "rm", "sed", "tr"} {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not on this machine", name)
		}
		require.NoError(t, os.Symlink(file, filepath.Join(folder, name)))
	}
	if openssl != "" {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "openssl"), []byte("#!/bin/sh\n"+openssl+"\n"), 0o700))
	}
	return folder
}

// A sum that could not be computed is none that a call can have, such as the empty one.
func TestNoCallIsGenuineInAShellWhereNoSumIsComputed(t *testing.T) {
	t.Parallel()
	good := files(t, [][]byte{newKey})[0]
	half := fmt.Sprintf("t=%d,v1=", time.Now().Unix())
	for name, c := range map[string]struct{ openssl, header string }{
		"openssl is not there":       {"", half},
		"openssl fails":              {"exit 1", half},
		"openssl is killed":          {"kill -9 $$", half},
		"openssl says nothing":       {"exit 0", half},
		"openssl fails with a sum":   {"echo 'SHA2-256(stdin)= " + strings.Repeat("a", 64) + "'; exit 1", half + strings.Repeat("a", 64)},
		"openssl says half a sum":    {"echo 'SHA2-256(stdin)= aaaa'", half + "aaaa"},
		"openssl says something new": {"echo " + strings.Repeat("x", 64), half + strings.Repeat("x", 64)},
	} {
		environ := []string{"PATH=" + tools(t, c.openssl)}
		status, text := programIn(t, environ, strings.NewReader("body"), "sh", "verify.sh", c.header, "POST", "/run", good)
		require.Equal(t, 2, status, "%s: %s", name, text)
		require.NotEmpty(t, text, "%s: whoever runs it learns that it judges nothing", name)
	}
}

// keysThatAreNone are contents of files that have no key, or none that Elasticron signs with.
var keysThatAreNone = map[string][]byte{"empty": nil, "half a line": []byte("\r"), "a short key": []byte("swordfish")}

func TestAKeyThatIsNoneIsRefusedInAShell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not on this machine")
	}
	good := files(t, [][]byte{newKey})[0]
	for name, key := range keysThatAreNone {
		c := cases(t, time.Now())["genuine"]
		for _, header := range []string{
			fmt.Sprintf("t=%d,v1=", time.Now().Unix()), c.call.Header.Get(callback.Header), forged(c.call, key),
		} {
			for _, keys := range [][]string{files(t, [][]byte{key}), append(files(t, [][]byte{key}), good), append([]string{good}, files(t, [][]byte{key})...)} {
				status, text := program(t, strings.NewReader("line 1\nline 2\x00\xff"), "sh",
					append([]string{"verify.sh", header, c.call.Method, c.call.RequestURI}, keys...)...)
				require.Equal(t, 2, status, "%s, %s: %s", name, header, text)
				require.NotContains(t, text, "swordfish")
			}
		}
	}
}

// What is in the header is no pattern of files, which would be looked for everywhere.
func TestTheHeaderIsNoPatternInAShell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not on this machine")
	}
	c := cases(t, time.Now())["genuine"]
	script, err := filepath.Abs("verify.sh")
	require.NoError(t, err)
	folder := t.TempDir() // with a file whose name is the signature
	given := strings.SplitN(c.call.Header.Get(callback.Header), ",", 2)
	require.NoError(t, os.WriteFile(filepath.Join(folder, given[1]), nil, 0o600))
	args := []string{"-c", `cd "$0" && sh "$@"`, folder, script, given[0] + ",v1=*", c.call.Method, c.call.RequestURI}
	status, text := program(t, c.call.Body, "sh", append(args, files(t, c.keys)...)...)
	require.Equal(t, 1, status, text)
}

// forged is the header of a call that somebody else signed, with a key that Elasticron takes for none.
func forged(call *http.Request, key []byte) string {
	at := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, bytes.TrimSuffix(key, []byte("\r")))
	mac.Write([]byte(at + "." + call.Method + "." + strings.ReplaceAll(call.RequestURI, ".", "%2E") + ".line 1\nline 2\x00\xff"))
	return "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

func TestAKeyThatIsNoneIsRefusedInPython(t *testing.T) {
	t.Parallel()
	good := files(t, [][]byte{newKey})[0]
	for name, key := range keysThatAreNone {
		c := cases(t, time.Now())["genuine"]
		for _, header := range []string{c.call.Header.Get(callback.Header), forged(c.call, key)} {
			status, text := program(t, strings.NewReader("line 1\nline 2\x00\xff"), "python3",
				append([]string{"-B", "verify.py", header, c.call.Method, c.call.RequestURI, good}, files(t, [][]byte{key})...)...)
			require.Equal(t, 2, status, "%s: %s", name, text)
			require.NotContains(t, text, "swordfish")
		}
	}
}

// All cases go to one process, as the start of one takes long.
func TestVerifyInPython(t *testing.T) {
	t.Parallel()
	const judge = `
import json, sys, verify
for c in json.load(sys.stdin):
    genuine = verify.verify(c["header"], c["method"], c["path"], bytes.fromhex(c["body"]), [bytes.fromhex(k) for k in c["keys"]])
    if genuine != c["genuine"]:
        sys.exit(c["name"])
`
	type one struct {
		Name    string   `json:"name"`
		Header  string   `json:"header"`
		Method  string   `json:"method"`
		Path    string   `json:"path"`
		Body    string   `json:"body"`
		Keys    []string `json:"keys"`
		Genuine bool     `json:"genuine"`
	}
	var all []one
	for name, c := range cases(t, time.Now()) {
		body, err := io.ReadAll(c.call.Body)
		require.NoError(t, err)
		o := one{name, c.call.Header.Get(callback.Header), c.call.Method, c.call.RequestURI, hex.EncodeToString(body), nil, c.genuine}
		for _, key := range c.keys {
			o.Keys = append(o.Keys, hex.EncodeToString(key))
		}
		all = append(all, o)
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	status, out := program(t, bytes.NewReader(text), "python3", "-B", "-c", judge)
	require.Zero(t, status, out)

	c := cases(t, time.Now())["genuine"]
	args := []string{"-B", "verify.py", c.call.Header.Get(callback.Header), c.call.Method, c.call.RequestURI}
	status, out = program(t, c.call.Body, "python3", append(args, files(t, c.keys)...)...)
	require.Zero(t, status, out)
}

func TestOptionsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	for want, option := range map[string]callback.Option{
		"tolerance 0s must be positive": callback.WithTolerance(0),
		"0 bytes of a body must be":     callback.WithMaxBody(0),
		"clock is nil":                  callback.WithClock(nil),
	} {
		_, err := callback.NewVerifier([][]byte{newKey}, option)
		require.ErrorIs(t, err, callback.ErrInvalidOption)
		require.ErrorContains(t, err, want)
	}
	_, err := callback.NewVerifier(nil, callback.WithTolerance(-1))
	require.ErrorIs(t, err, callback.ErrKey, "all faults are named at once")
	require.ErrorIs(t, err, callback.ErrInvalidOption)
}

func TestWhyACallIsNotGenuine(t *testing.T) {
	t.Parallel()
	at := time.Unix(1767225600, 0)
	verifier, err := callback.NewVerifier([][]byte{newKey}, callback.WithMaxBody(4), callback.WithTolerance(time.Minute), callback.WithClock(func() time.Time { return at }))
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(signed(t, at.Add(time.Minute), "POST", "/", "four", newKey)))
	require.ErrorIs(t, verifier.Verify(signed(t, at, "POST", "/", "fives", newKey)), callback.ErrTooLarge)
	require.ErrorIs(t, verifier.Verify(signed(t, at, "POST", "/", "four", oldKey)), callback.ErrSignature)
	require.ErrorIs(t, verifier.Verify(signed(t, at.Add(61*time.Second), "POST", "/", "four", newKey)), callback.ErrTime)
	require.ErrorIs(t, verifier.Verify(httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)), callback.ErrNoSignature)
	answer := httptest.NewRecorder()
	verifier.Handler(http.NotFoundHandler()).ServeHTTP(answer, signed(t, at, "POST", "/", "fives", newKey))
	require.Equal(t, http.StatusRequestEntityTooLarge, answer.Code)
}

func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	for _, keys := range [][][]byte{nil, {[]byte("swordfish")}, {oldKey, newKey, oldKey}} {
		_, err := callback.NewSigner(keys)
		require.ErrorIs(t, err, callback.ErrKey)
		require.NotContains(t, err.Error(), "swordfish")
		_, err = callback.NewVerifier(keys)
		require.ErrorIs(t, err, callback.ErrKey)
	}
}
