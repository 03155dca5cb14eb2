package access

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/securecookie"
)

// How long a session lasts.
const (
	sessionFor  = 12 * time.Hour
	sessionIdle = time.Hour
	// renewAfter is how old a session's last sign of life must be before the cookie is written anew.
	renewAfter = time.Minute
)

// The cookies, to which is added what tells servers of one host apart. The prefix has browsers insist on Secure, the path
// "/" and no domain.
const (
	sessionCookie = "__Host-elasticron"
	loginCookie   = "__Host-elasticron-login"
	deviceCookie  = "__Host-elasticron-device"
)

// session is what the cookie holds, encrypted and signed.
type session struct {
	Name       string   `json:"n"`
	Groups     []string `json:"g,omitempty"` // as an OpenID provider told them, those that are granted something
	Password   bool     `json:"p,omitempty"` // the login was by password
	Generation int      `json:"v"`
	Began      int64    `json:"b"` // in seconds
	Seen       int64    `json:"s"`
	// Twin is the suffix of the other cookie that holds this session, while keys are changed. Who knows that name, too,
	// takes the session only with both: a server that knows one of the keys can end it for all.
	Twin string `json:"t,omitempty"`
}

// same tells whether two cookies hold one session.
func (s session) same(other session) bool { return s.Name == other.Name && s.Began == other.Began }

// until returns when the session ends.
func (s session) until() time.Time {
	end, idle := time.Unix(s.Began, 0).Add(sessionFor), time.Unix(s.Seen, 0).Add(sessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}

// cookies writes and reads cookies. Each key has names of its own, and the first key is that of new cookies.
type cookies []jar

// jar is for the cookies of one key.
type jar struct {
	codec  securecookie.Codec
	suffix string // of the names
}

// newCookies returns cookies for keys, valid for age. tag is added to their names; if it is empty and the keys are those of
// a file, each name gets a digest of its key.
func newCookies(keys [][]byte, tag string, ofFile bool, age time.Duration) cookies {
	all := make(cookies, len(keys))
	for i, codec := range codecs(keys, int(age.Seconds())) {
		suffix := tag
		if suffix == "" && ofFile {
			sum := sha256.Sum256(append([]byte("name of cookies\x00"), keys[i]...))
			suffix = hex.EncodeToString(sum[:4])
		}
		if suffix != "" {
			suffix = "-" + suffix
		}
		all[i] = jar{codec, suffix}
	}
	return all
}

// longestCookie is how long a cookie's name and value may be together: browsers drop what is longer, and tell nobody.
const longestCookie = 4_000

var errTooLong = errors.New("too long for a cookie")

// set writes a cookie, or none if it is too long.
func (c cookies) set(w http.ResponseWriter, name string, value any, age time.Duration, same http.SameSite) error {
	name += c[0].suffix
	text, err := c[0].codec.Encode(name, value)
	if err != nil {
		return err
	}
	if length := len(name) + len(text); length > longestCookie {
		return fmt.Errorf("%w: it has %d bytes of %d", errTooLong, length, longestCookie)
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: text, Path: "/", MaxAge: int(age.Seconds()), Secure: true, HttpOnly: true, SameSite: same,
	})
	return nil
}

func (c cookies) clear(w http.ResponseWriter, name string, same http.SameSite) {
	cleared := make(map[string]bool)
	for _, jar := range c {
		if name := name + jar.suffix; !cleared[name] {
			cleared[name] = true
			http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: same})
		}
	}
}

// read reads a cookie into value; false if there is none that is right.
func (c cookies) read(r *http.Request, name string, value any) bool {
	for _, jar := range c {
		cookie, err := r.Cookie(name + jar.suffix)
		if err == nil && jar.codec.Decode(cookie.Name, cookie.Value, value) == nil {
			return true
		}
	}
	return false
}

// session returns the session of a request; false if there is none, or it has ended.
func (c cookies) session(r *http.Request, now time.Time) (s session, ok bool) {
	found := make(map[string]session, len(c)) // by suffix
	for i, jar := range c {
		if s := (session{}); c[i:i+1].read(r, sessionCookie, &s) && s.Name != "" && now.Before(s.until()) {
			found[jar.suffix] = s
		}
	}
	for _, jar := range c {
		s, ok := found[jar.suffix]
		if ok && (!c.named(s.Twin) || found[s.Twin].same(s)) {
			return s, true
		}
	}
	return session{}, false
}

// named tells whether one of the keys has a name for its cookies that ends so.
func (c cookies) named(suffix string) bool {
	return suffix != "" && slices.ContainsFunc(c, func(j jar) bool { return j.suffix == suffix })
}

// setSession writes a session's cookie or, while keys are changed, one for each key: not all servers have the new one yet,
// or still have the old one.
func (c cookies) setSession(w http.ResponseWriter, s session, now time.Time) error {
	s.Seen = now.Unix()
	for i, jar := range c {
		s.Twin = ""
		if other := c[len(c)-1-i].suffix; other != jar.suffix { // there are two keys at most
			s.Twin = other
		} else if i > 0 {
			break // they have one name
		}
		if err := c[i:i+1].set(w, sessionCookie, s, time.Until(time.Unix(s.Began, 0).Add(sessionFor)), http.SameSiteStrictMode); err != nil {
			return err
		}
	}
	return nil
}

// inForce tells whether a session is still one by the users file: its user's generation is the same, and a user who
// logged in with a password still has one.
func (s session) inForce(d *directory) bool {
	u, listed := d.users[s.Name]
	return u.generation == s.Generation && (!s.Password || listed && u.password != nil)
}
