package access

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/gorilla/securecookie"
)

// A key has 32 bytes that sign and 32 that encrypt.
const keyBytes = 64

// NewKey returns a line for a key file: 64 random bytes in base64. A key file has one line or two. The first key makes
// new sessions, both are taken: to change the key, put a new line in front, and remove the old one after twelve hours.
func NewKey() string {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // it does not fail
	return base64.StdEncoding.EncodeToString(key)
}

// parseKeys reads a key file. Errors quote none of it.
func parseKeys(text []byte) (keys [][]byte, err error) {
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(line))
		if err != nil || len(key) != keyBytes {
			return nil, fmt.Errorf("%w key in line %d: it must be %d bytes in base64", ErrInvalid, i+1, keyBytes)
		}
		keys = append(keys, key)
	}
	if len(keys) > 2 {
		return nil, fmt.Errorf("%w: there are %d keys, and may be two", ErrInvalid, len(keys))
	}
	return keys, nil
}

// readKeys reads a key file; without one a key is made that lasts as long as the process.
func readKeys(path string) (keys [][]byte, err error) {
	if path == "" {
		return parseKeys([]byte(NewKey()))
	}
	text, _, err := readLimited(path)
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	if keys, err = parseKeys(text); err != nil {
		return nil, fmt.Errorf("key file %s: %w", path, err)
	}
	return keys, nil
}

// codecs encrypt and sign cookies, the first with the newest key.
func codecs(keys [][]byte, age int) (all []securecookie.Codec) {
	for _, key := range keys {
		c := securecookie.New(key[:keyBytes/2], key[keyBytes/2:])
		all = append(all, c.MaxAge(age).SetSerializer(securecookie.JSONEncoder{}))
	}
	return all
}
