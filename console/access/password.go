package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// How passwords are hashed. There is one way, so that every check takes the same time.
const (
	hashMemory  = 19 << 10 // KiB
	hashTime    = 2
	hashThreads = 1
	saltBytes   = 16
	hashBytes   = 32
	hashPrefix  = "$argon2id$v=19$m=19456,t=2,p=1$"

	// hashingAtOnce bounds how much memory logins take together.
	hashingAtOnce = 4

	// MaxPassword is how long a password may be, in bytes, and MinPassword how short one that is made new.
	MaxPassword = 1_024
	MinPassword = 12
)

// passwordHash is what is stored of a password.
type passwordHash struct{ salt, hash []byte }

// HashPassword returns what the users file holds of a password: argon2id with 19 MiB and a random salt. The password
// must have 12 to 1024 bytes.
func HashPassword(password string) (string, error) {
	if len(password) < MinPassword || len(password) > MaxPassword {
		return "", fmt.Errorf("%w password of %d bytes: it must have %d to %d", ErrInvalid, len(password), MinPassword, MaxPassword)
	}
	p := passwordHash{salt: make([]byte, saltBytes)}
	_, _ = rand.Read(p.salt) // it does not fail
	p.hash = hashOf(password, p.salt)
	return p.String(), nil
}

func hashOf(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, hashTime, hashMemory, hashThreads, hashBytes)
}

func (p passwordHash) String() string {
	text := base64.RawStdEncoding.EncodeToString
	return hashPrefix + text(p.salt) + "$" + text(p.hash)
}

var errHash = errors.New(`it must be "` + hashPrefix + `", a salt of 16 bytes, "$" and a hash of 32 bytes: make it with "elasticron server passwd"`)

// parseHash reads what HashPassword returns. Its error does not quote the text.
func parseHash(text string) (p passwordHash, err error) {
	rest, is := strings.CutPrefix(text, hashPrefix)
	salt, hash, parted := strings.Cut(rest, "$")
	if !is || !parted {
		return passwordHash{}, errHash
	}
	decoding := base64.RawStdEncoding.Strict()
	if p.salt, err = decoding.DecodeString(salt); err != nil || len(p.salt) != saltBytes {
		return passwordHash{}, errHash
	}
	if p.hash, err = decoding.DecodeString(hash); err != nil || len(p.hash) != hashBytes {
		return passwordHash{}, errHash
	}
	return p, nil
}

// nobodysHash is compared with the passwords of those who are not in the file, so that the answer takes as long.
var nobodysHash = passwordHash{salt: make([]byte, saltBytes), hash: make([]byte, hashBytes)}

// hasher checks passwords, a few at once.
type hasher struct{ slots chan struct{} }

func newHasher() *hasher { return &hasher{make(chan struct{}, hashingAtOnce)} }

// matches tells whether a password is the one of a hash; nil is nobody's. It waits for its turn until the context
// ends, and fails then.
func (h *hasher) matches(ctx context.Context, password string, stored *passwordHash) (bool, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	p := stored
	if p == nil {
		p = &nobodysHash
	}
	same := subtle.ConstantTimeCompare(hashOf(password, p.salt), p.hash) == 1
	return same && stored != nil, nil
}
