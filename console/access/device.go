package access

import (
	"crypto/rand"
	"net/http"
	"time"
)

// deviceFor is how long a browser is known after a login by password.
const deviceFor = 90 * 24 * time.Hour

// device says that a user has logged in with a browser before, in a cookie of its own that a logout leaves there. It lets
// nobody in: its tries are counted apart from those of others, see [backoff].
type device struct {
	Name       string `json:"n"`
	Generation int    `json:"v"` // of the user: what ends all sessions ends this as well
	ID         string `json:"i"`
}

// deviceOf returns the id of the browser, if the user has logged in with it before; else nothing.
func (g *Guard) deviceOf(r *http.Request, name string, generation int) string {
	var d device
	if !g.devices.read(r, deviceCookie, &d) || d.Name != name || d.Generation != generation {
		return ""
	}
	return d.ID
}

// keepDevice has a browser be known from now on, by the id that it has, or by a new one.
func (g *Guard) keepDevice(w http.ResponseWriter, name string, generation int, id string) {
	if id == "" {
		id = rand.Text()
	}
	_ = g.devices.set(w, deviceCookie, device{name, generation, id}, deviceFor, http.SameSiteStrictMode) // it is short
}
