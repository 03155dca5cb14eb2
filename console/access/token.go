package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// tokenPrefix marks tokens, so that those who look for leaked secrets find them.
const (
	tokenPrefix = "elasticron_"
	tokenBytes  = 32
)

// NewToken returns a new API token of 32 random bytes, which nobody can read later, and its SHA-256 in hexadecimal for
// the users file.
func NewToken() (token, stored string) {
	secret := make([]byte, tokenBytes)
	_, _ = rand.Read(secret) // it does not fail
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(token))
	return token, hex.EncodeToString(sum[:])
}

// tokenSum is what is stored of a token.
type tokenSum [sha256.Size]byte

// sumOfToken returns what is stored of a token; false if the text is none.
func sumOfToken(token string) (tokenSum, bool) {
	secret, is := strings.CutPrefix(token, tokenPrefix)
	bytes, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	if !is || err != nil || len(bytes) != tokenBytes {
		return tokenSum{}, false
	}
	return sha256.Sum256([]byte(token)), true
}

// bearer returns the token of an Authorization header; false if there is none.
func bearer(header string) (string, bool) {
	scheme, token, parted := strings.Cut(header, " ")
	if !parted || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}
