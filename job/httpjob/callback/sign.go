package callback

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Header is the header that holds the signatures.
const Header = "Elasticron-Signature"

// MinKey is how many bytes a key has at least.
const MinKey = 16

// ErrKey is the error of keys that are none.
var ErrKey = errors.New("invalid key")

// checkKeys tells what is wrong with keys, and shows none.
func checkKeys(keys [][]byte) error {
	if len(keys) == 0 || len(keys) > 2 {
		return fmt.Errorf("%w: %d keys: want one, or two while they change", ErrKey, len(keys))
	}
	for i, key := range keys {
		if len(key) < MinKey {
			return fmt.Errorf("%w: key %d has %d bytes: want at least %d", ErrKey, i+1, len(key), MinKey)
		}
	}
	return nil
}

// Signer signs requests. It is safe for concurrent use.
type Signer struct{ keys [][]byte }

// NewSigner returns a signer with one key, or with two while they change. The error is [ErrKey].
func NewSigner(keys [][]byte) (*Signer, error) {
	if err := checkKeys(keys); err != nil {
		return nil, err
	}
	return &Signer{keys}, nil
}

// Sign sets the header of a request that is sent at a time with a body.
func (s *Signer) Sign(req *http.Request, body []byte, at time.Time) {
	t := strconv.FormatInt(at.Unix(), 10)
	text := "t=" + t
	for _, key := range s.keys {
		text += ",v1=" + hex.EncodeToString(signature(key, t, req.Method, req.URL.RequestURI(), body))
	}
	req.Header.Set(Header, text)
}

// signature is that of one key.
func signature(key []byte, t, method, path string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(t + "." + method + "." + strings.ReplaceAll(path, ".", "%2E") + "."))
	mac.Write(body)
	return mac.Sum(nil)
}
