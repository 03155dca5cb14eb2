package browser

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// down presses a key and does not let go of it; again is what a keyboard sends of a key that is held.
func (t *tab) down(key, code, text string, number int64, again bool) {
	t.tb.Helper()
	t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: "keyDown", Key: key, Code: code, Text: text, UnmodifiedText: text, WindowsVirtualKeyCode: number, AutoRepeat: &again,
		})
		return err
	}))
}

func (t *tab) enter(again bool) { t.tb.Helper(); t.down("Enter", "Enter", "\r", 13, again) }

// focus gives an element with a text the focus, as the keyboard would.
func (t *tab) focus(selector, text string) {
	t.tb.Helper()
	t.sees(selector, text)
	value[bool](t, `!document.querySelector("header [inert]") && ([...document.querySelectorAll(`+quote(selector)+`)].find(e => e.textContent.includes(`+quote(text)+`)).focus(), true)`)
}

// A key that is held opens the dialog of an operation, and does not do the operation.
func TestAHeldKey(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.focus("#deeds button", "Disable")
	tab.enter(false)
	tab.sees("dialog .plan", "item 2")
	for range 3 {
		tab.enter(true)
	}
	tab.click("dialog button", "Cancel") // which does nothing while something is done
	tab.lacks("dialog")
	require.Empty(t, s.done())

	tab.focus("#deeds button", "Disable")
	tab.down(" ", "Space", " ", 32, false)
	tab.down(" ", "Space", " ", 32, true)
	tab.lacks("dialog")
	tab.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyUp", Key: " ", Code: "Space", WindowsVirtualKeyCode: 32})
		return err
	}))
	tab.sees("dialog .plan", "item 2")
	require.Empty(t, s.done())
	tab.press(kb.Enter) // once, by somebody who has read it
	tab.lacks("dialog")
	require.Len(t, s.done(), 1)

	tab.focus("#jump-open", "Go to a job")
	tab.enter(false)
	tab.until(`document.querySelectorAll("#jump .name").length === 5`)
	tab.enter(true)
	tab.settled()
	require.Contains(t, value[string](tab, "location.pathname"), "orders-settle")
}

// Enter that is held in a field of the settings commits nothing.
func TestAHeldKeyInTheSettings(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle/settings"))
	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	tab.enter(false)
	tab.sees("dialog .plan", "It fires every 2 minutes")
	tab.enter(true)
	tab.enter(true)
	tab.click("dialog button", "Cancel")
	tab.lacks("dialog")
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Equal(t, 48190, s.revision)
}

// jumps looks at the overview of a scene of five jobs, asks for the way to a job, and types a part of its name.
func jumps(t *testing.T, s *scene) *tab {
	t.Helper()
	tab := look(t)
	tab.open(s.shop(""))
	tab.sees("#needs", "orders-mail")
	tab.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	tab.until(`document.querySelectorAll("#jump .name").length === 5`)
	tab.press("settle")
	return tab
}

// Who types the name of a job and goes to it comes to that one, also if the server takes its time.
func TestTheWayToAJobWaits(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	hold := make(chan bool)
	s.hooked(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("match") != "" {
			held(r, hold)
		}
		return false
	})
	tab := jumps(t, s)
	tab.press(kb.Enter)
	tab.settled()
	close(hold)
	tab.until(`location.pathname.includes("/jobs/")`)
	require.Contains(t, value[string](tab, "location.pathname"), "/jobs/orders-settle")
}

// A search that fails after a newer one has been answered changes nothing.
func TestAnOlderSearchFails(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	hold := make(chan bool)
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("match") != "*s*" {
			return false
		}
		held(r, hold)
		answer(w, 503, object{"title": "away", "status": 503, "detail": "the old search failed"})
		return true
	})
	tab := jumps(t, s)
	const found = `[...document.querySelectorAll("#jump li")].map(e => e.firstChild.firstChild.textContent).join()`
	tab.until(found + ` === "orders-settle"`)
	close(hold)
	tab.until(`performance.getEntriesByType("resource").some(e => e.name.includes("match=*s*") && e.responseEnd > 0)`)
	tab.settled()
	require.Equal(t, "orders-settle", value[string](tab, found))
}

// Who comes back to a page sees its namespace chosen, and can choose the other one again. The way to a job is closed.
func TestBack(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		s := newScene(t, 5, "")
		tab := look(t)
		tab.open(s.shop("jobs"))
		tab.sees("#rows", "orders-settle")
		if !kept {
			value[bool](tab, `(addEventListener("unload", () => {}), true)`) // so the browser loads it anew
		}
		for range 2 {
			value[bool](tab, `(document.querySelector("#namespace").focus(), true)`)
			tab.press("w")
			tab.until(`location.pathname.includes("warehouse") && document.readyState === "complete"`)
			value[bool](tab, `(setTimeout(() => history.back()), true)`)
			tab.until(`location.pathname.includes("/shop/") && document.readyState === "complete"`)
			tab.sees("#rows", "orders-settle")
			require.Equal(t, "shop", value[string](tab, `document.querySelector("#namespace").value`))
		}
		tab.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
		tab.until(`document.querySelectorAll("#jump .name").length === 5`)
		tab.press(kb.Enter)
		tab.until(`location.pathname.includes("/jobs/") && document.readyState === "complete"`)
		value[bool](tab, `(setTimeout(() => history.back()), true)`)
		tab.until(`location.pathname.endsWith("/jobs") && document.readyState === "complete"`)
		tab.sees("#rows", "orders-settle")
		require.False(t, value[bool](tab, `document.querySelector("#jump").open`))
	}
}
