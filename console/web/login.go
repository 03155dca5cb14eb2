package web

import (
	"fmt"
	"net/http"
	"time"
)

// Login is what a page of the login shows. It has the fields of access.LoginPage, so that the one converts to the other.
type Login struct {
	Next     string        // where to go afterwards
	Name     string        // as it was given
	Failed   bool          // the name and the password do not match
	Wait     time.Duration // how long no other try is heard; 0: none was refused for that
	Problem  string        // what else went wrong, in a sentence
	Password bool          // a login by password is possible
	OIDC     bool          // a login at the provider is possible
}

// WriteLogin writes the body of the login page; status and headers are the caller's. Its form posts name, password and
// next to "login".
func (p *Pages) WriteLogin(w http.ResponseWriter, login Login) {
	v := p.view(page{Name: "login", Title: "Log in"})
	v.Login = login
	html, err := p.execute("login", v)
	if err != nil {
		html = fmt.Appendf(nil, "%s\n", err)
	}
	_, _ = w.Write(html) // the browser has gone, or has it
}
