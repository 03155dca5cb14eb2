package access

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Config says who is let in. Without a users file, a provider and a proxy's header nobody is asked: everybody is an
// admin, and the server must listen on loopback only; see [CheckListen].
type Config struct {
	// UsersFile is the path of the users file; see the comment of the package.
	UsersFile string
	// KeyFile is the path of the key file; see [NewKey]. Empty: sessions end with the process.
	KeyFile string
	// Cookie tells the cookies of this server from those of others on the same host, as browsers do not tell ports apart: 1 to
	// 32 letters and digits. Empty: what the key file gives, as servers that share it share sessions; without a key file
	// nothing.
	Cookie string
	// OIDC is the OpenID provider; nil: there is none.
	OIDC *OIDC
	// Proxy is what stands before the server; nil: nothing that is trusted.
	Proxy *Proxy
	// Prefix is what the proxy takes off the paths, such as "/cron"; empty: nothing.
	Prefix string
	// Origins are others than the server's own from which browsers may write, such as "https://ops.example.com".
	Origins []string
	// Public tells which paths anybody may get, such as those of style sheets; nil: none but the guard's own.
	Public func(path string) bool
	// LoginPage writes the page of the login; nil: a plain one.
	LoginPage func(w http.ResponseWriter, r *http.Request, page LoginPage)
	// Logger is told who logs in and who fails to; nil: nobody is. It hears of no secret.
	Logger *slog.Logger
}

// LoginPage is what a page of the login shows. Its form posts name, password and next to "login"; its link to the
// provider, if there is one, is "oidc/login?next=" and Next.
type LoginPage struct {
	Next     string        // where to go afterwards
	Name     string        // as it was given
	Failed   bool          // the name and the password do not match
	Wait     time.Duration // how long no other try is heard; 0: none was refused for that
	Problem  string        // what else went wrong, in a sentence
	Password bool          // a login by password is possible
	OIDC     bool          // a login at the provider is possible
}

// OIDC is an OpenID provider. The client must be registered there with the code flow and PKCE.
type OIDC struct {
	Issuer       string // URL
	ClientID     string
	ClientSecret string // empty for a public client
	RedirectURL  string // the server's URL, with its prefix and "/oidc/callback"
	// NameClaim is the claim that names somebody. The default, "email", must be verified by the provider. Never choose one
	// that users may change.
	NameClaim   string
	GroupsClaim string   // "groups" by default
	Scopes      []string // besides "openid"; "email" and "profile" by default
}

// Proxy is what stands before the server.
type Proxy struct {
	// From are the addresses of the proxies. From all others, what the headers say is not heeded. Required.
	From []netip.Prefix
	// UserHeader names the header in which the proxy says who somebody is; empty: the guard asks by itself. The proxy must remove
	// the header from what it gets.
	UserHeader string
	// GroupsHeader names the one of their groups, parted by commas; empty: there is none.
	GroupsHeader string
}

var cookieTag = regexp.MustCompile(`^[A-Za-z0-9]{0,32}$`)

func (c Config) complete() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Public == nil {
		c.Public = func(string) bool { return false }
	}
	if c.Prefix != "" && (!strings.HasPrefix(c.Prefix, "/") || strings.HasSuffix(c.Prefix, "/") || strings.HasPrefix(c.Prefix, "//")) {
		return c, fmt.Errorf(`%w Prefix %q: it must begin with one slash and not end in one, such as "/cron"`, ErrInvalid, c.Prefix)
	}
	if !cookieTag.MatchString(c.Cookie) {
		return c, fmt.Errorf("%w Cookie %q: it must have at most 32 letters and digits", ErrInvalid, c.Cookie)
	}
	if c.Proxy != nil && len(c.Proxy.From) == 0 {
		return c, fmt.Errorf("%w Proxy.From: it must list the addresses of the proxies", ErrInvalid)
	}
	if c.OIDC != nil {
		provider, err := c.OIDC.complete()
		if err != nil {
			return c, err
		}
		c.OIDC = &provider
	}
	return c, nil
}

func (o OIDC) complete() (OIDC, error) {
	for field, text := range map[string]string{"Issuer": o.Issuer, "RedirectURL": o.RedirectURL} {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
			return o, fmt.Errorf("%w OIDC.%s %q: it must be a URL that begins with https://, or with http:// on loopback", ErrInvalid, field, text)
		}
	}
	if o.ClientID == "" {
		return o, fmt.Errorf("%w OIDC.ClientID: it is empty", ErrInvalid)
	}
	if o.NameClaim == "" {
		o.NameClaim = emailClaim
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	if o.Scopes == nil {
		o.Scopes = []string{"email", "profile"}
	}
	return o, nil
}
