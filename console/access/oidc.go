package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	emailClaim = "email"
	loginFor   = 10 * time.Minute // how long somebody may take at the provider
)

var errNotNamed = errors.New("the provider does not say who that is")

func (p *provider) oauth(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, RedirectURL: p.cfg.RedirectURL, Endpoint: found.Endpoint(),
		Scopes: append([]string{oidc.ScopeOpenID}, p.cfg.Scopes...),
	}
}

// underWay is what a login at the provider needs when it comes back, in a cookie of its own.
type underWay struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"to"`
	Began    int64  `json:"b"`
}

func random() string {
	bytes := make([]byte, 32)
	_, _ = rand.Read(bytes) // it does not fail
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func (g *Guard) loginAtProvider(w http.ResponseWriter, r *http.Request) {
	found, err := g.provider.discover(r.Context())
	if err != nil {
		next := r.URL.Query().Get("next")
		g.failed(w, r, next, http.StatusBadGateway, "The OpenID provider does not answer. The server goes on asking it: try again in a moment.", err)
		return
	}
	u := underWay{
		State: random(), Nonce: random(), Verifier: oauth2.GenerateVerifier(), Next: g.next(r.URL.Query().Get("next")),
		Began: time.Now().Unix(),
	}
	// The provider sends the browser back from another site, so this cookie cannot be Strict.
	if err := g.cookies.set(w, loginCookie, u, loginFor, http.SameSiteLaxMode); err != nil {
		g.failed(w, r, "", http.StatusBadRequest, "The page to go to is too long.", err)
		return
	}
	to := g.provider.oauth(found).AuthCodeURL(u.State, oidc.Nonce(u.Nonce), oauth2.S256ChallengeOption(u.Verifier))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (g *Guard) callback(w http.ResponseWriter, r *http.Request) {
	var u underWay
	known := g.cookies.read(r, loginCookie, &u)
	g.cookies.clear(w, loginCookie, http.SameSiteLaxMode)
	query := r.URL.Query()
	same := subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(u.State)) == 1
	switch {
	case !known || !same || time.Since(time.Unix(u.Began, 0)) > loginFor:
		g.failed(w, r, u.Next, http.StatusBadRequest, "This login was not begun here, or took too long. Try again.", nil)
		return
	case query.Get("error") != "":
		g.failed(w, r, u.Next, http.StatusUnauthorized, "The OpenID provider refused the login.", fmt.Errorf("the provider says %q", query.Get("error")))
		return
	}
	name, groups, err := g.provider.whoIs(r.Context(), query.Get("code"), u)
	if err != nil {
		g.failed(w, r, u.Next, http.StatusUnauthorized, "The OpenID provider did not confirm who you are.", err)
		return
	}
	d := g.users.current()
	next := g.next(u.Next)
	if g.begin(w, r, next, session{Name: name, Groups: d.known(groups), Generation: d.users[name].generation}) {
		bounce(w, next)
	}
}

func (g *Guard) failed(w http.ResponseWriter, r *http.Request, next string, status int, text string, err error) {
	g.tally.failed.Add(1)
	g.cfg.Logger.Warn("a login at the OpenID provider failed", "from", g.cfg.Proxy.clientOf(r), "error", err)
	g.page(w, r, status, LoginPage{Next: g.next(next), Problem: text})
}

// whoIs exchanges a code for what the provider says of somebody, and checks that.
func (p *provider) whoIs(ctx context.Context, code string, u underWay) (name string, groups []string, err error) {
	ctx, cancel := context.WithTimeout(p.context(ctx), 3*providerTime)
	defer cancel()
	found, err := p.discover(ctx)
	if err != nil {
		return "", nil, err
	}
	got, err := p.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(u.Verifier))
	if err != nil {
		return "", nil, withoutBody(err)
	}
	raw, _ := got.Extra("id_token").(string)
	id, err := found.Verifier(&oidc.Config{ClientID: p.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return "", nil, fmt.Errorf("check the id token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(u.Nonce)) != 1 {
		return "", nil, fmt.Errorf("%w: the nonce is another", errNotNamed)
	}
	var claims map[string]any
	if err := id.Claims(&claims); err != nil {
		return "", nil, fmt.Errorf("read the id token: %w", err)
	}
	return p.read(claims)
}

// withoutBody leaves out what the provider answered, which may hold what was sent.
func withoutBody(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return fmt.Errorf("exchange the code: %s %s", refused.Response.Status, refused.ErrorCode)
	}
	return fmt.Errorf("exchange the code: %w", err)
}

// read returns name and groups of claims.
func (p *provider) read(claims map[string]any) (name string, groups []string, err error) {
	name, _ = claims[p.cfg.NameClaim].(string)
	if checkName(name) != nil {
		return "", nil, fmt.Errorf("%w: the claim %q is no name", errNotNamed, p.cfg.NameClaim)
	}
	if verified, _ := claims["email_verified"].(bool); p.cfg.NameClaim == emailClaim && !verified {
		return "", nil, fmt.Errorf("%w: the address is not verified", errNotNamed)
	}
	switch all := claims[p.cfg.GroupsClaim].(type) {
	case string:
		groups = append(groups, all)
	case []any:
		for _, each := range all {
			if group, is := each.(string); is {
				groups = append(groups, group)
			}
		}
	}
	return name, groups, nil
}
