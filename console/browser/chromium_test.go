package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/debian"
)

// patience bounds how long a test waits for what it expects; the machine may be busy.
const patience = 60 * time.Second

// interval is how often it looks.
const interval = 40 * time.Millisecond

var chromium struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
}

// start starts the one browser of all tests.
func start(tb testing.TB) context.Context {
	tb.Helper()
	program := debian.Need(tb, "chromium", "chromium") // each test is skipped without it
	chromium.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(program),
			chromedp.Flag("no-sandbox", true),        // tests run as root
			chromedp.WSURLReadTimeout(2*time.Minute), // a busy machine takes its time to start it
			chromedp.Flag("disable-dev-shm-usage", true),
			chromedp.Flag("disable-gpu", true),
			chromedp.Flag("lang", "en-GB"),
			chromedp.Flag("ignore-certificate-errors", true), // servers of tests sign for themselves
			chromedp.Env("TZ=Europe/Berlin"),
		)
		allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		chromium.ctx, chromium.cancel = ctx, func() { cancel(); end() }
		require.NoError(tb, chromedp.Do(ctx), "start Chromium")
	})
	require.NotNil(tb, chromium.ctx, "Chromium did not start, see the first test that asked for it")
	return chromium.ctx
}

func TestMain(m *testing.M) {
	if endpoint := os.Getenv(instanceEndpoint); endpoint != "" {
		fmt.Fprintln(os.Stderr, beInstance(endpoint, os.Getenv(instanceName)))
		os.Exit(1)
	}
	code := m.Run()
	if chromium.cancel != nil {
		chromium.cancel()
	}
	os.Exit(code)
}

// tab is a page that somebody looks at, with cookies and workers of its own.
type tab struct {
	tb  testing.TB
	ctx context.Context

	mu     sync.Mutex
	faults []string // what the page complained of
}

// look opens a tab. At the end of the test it must not have complained of anything.
func look(tb testing.TB) *tab {
	tb.Helper()
	ctx, cancel := chromedp.NewContext(start(tb), chromedp.WithNewBrowserContext())
	tb.Cleanup(cancel)
	t := &tab{tb: tb, ctx: ctx}
	t.listen()
	t.size(1280, 900)
	tb.Cleanup(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, fault := range t.faults {
			tb.Errorf("the page complained: %s", fault)
		}
	})
	return t
}

// beside opens another tab that shares cookies and workers with this one.
func (t *tab) beside() *tab {
	t.tb.Helper()
	ctx, cancel := chromedp.NewContext(t.ctx, chromedp.WithNewWindow(true))
	t.tb.Cleanup(cancel)
	other := &tab{tb: t.tb, ctx: ctx}
	other.listen()
	other.size(1280, 900)
	return other
}

// remembers keeps in window.said what notes said, as good ones go after some seconds. Of a click that did not reach what it was
// meant for, as the page was laid out anew meanwhile, nothing comes.
const remembers = `addEventListener("DOMContentLoaded", () => {
	const notes = document.querySelector("#notes");
	window.said = notes?.textContent;
	if (notes) new MutationObserver(() => window.said += notes.checkVisibility() ? notes.textContent : "").observe(notes, { childList: true, subtree: true, characterData: true });
});
addEventListener("click", (event) => {
	if (!window.astray) return;
	event.preventDefault();
	event.stopImmediatePropagation();
}, true);`

// listen notes exceptions and violations of the content security policy.
func (t *tab) listen() {
	note := func(text string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.faults = append(t.faults, text)
	}
	require.NoError(t.tb, chromedp.Do(t.ctx)) // what makes the tab bounds its life, so it is not bounded in time
	t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: remembers})
		return err
	}))
	require.NoError(t.tb, chromedp.Listen(t.ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			note(fmt.Sprint(&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}))
		case *log.EventEntryAdded:
			if e.Entry.Source == log.EntrySourceSecurity {
				note(e.Entry.Text)
			}
		}
	}))
}

func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.leavePicture()
		require.NoError(t.tb, err)
	}
}

func (t *tab) open(url string) { t.tb.Helper(); t.do(chromedp.Navigate(url)) }

func (t *tab) size(width, height int64) { t.tb.Helper(); t.do(chromedp.EmulateViewport(width, height)) }

// dark has the tab prefer the dark or the light.
func (t *tab) dark(on bool) {
	t.tb.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
}

// value returns what an expression of JavaScript gives.
func value[T any](t *tab, expression string) T {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(t.tb, err, expression)
	return v
}

// until waits until an expression is true, also if the page goes to another one meanwhile.
func (t *tab) until(expression string) {
	t.tb.Helper()
	await(t, "!!("+expression+")", func(is bool) bool { return is })
}

// await waits until what an expression gives is enough, also if the page goes to another one meanwhile, and returns it.
func await[T any](t *tab, expression string, enough func(T) bool) T {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	for {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		if err == nil && enough(v) {
			return v
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			t.leavePicture()
			require.Fail(t.tb, "it did not come to be", "waited for %s (%v); the page says:\n%s", expression, err, t.now())
		}
	}
}

// now is the text of the page, for whoever reads of a failure.
func (t *tab) now() string {
	ctx, cancel := context.WithTimeout(t.ctx, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText.slice(0, 1500)"))
	return text
}

// sees waits until an element has a text in it.
func (t *tab) sees(selector, text string) {
	t.tb.Helper()
	t.until(fmt.Sprintf("[...document.querySelectorAll(%s)].some(e => e.checkVisibility() && e.textContent.includes(%s))", quote(selector), quote(text)))
}

// live waits until the page says that it is live.
func (t *tab) live() {
	t.tb.Helper()
	t.until(`document.querySelector("#live")?.className === "live on"`)
}

// hears waits until a note has said a text, which may be gone again.
func (t *tab) hears(text string) {
	t.tb.Helper()
	t.until("window.said?.includes(" + quote(text) + ")")
}

// lacks waits until no element of the selector is to be seen.
func (t *tab) lacks(selector string) {
	t.tb.Helper()
	t.until(fmt.Sprintf("![...document.querySelectorAll(%s)].some(e => e.checkVisibility())", quote(selector)))
}

// click clicks the element that a person would: of those with the text, the first to be seen, once it can be clicked, and again
// if it did not reach that: Chromium throws away clicks on a page that was not painted yet, and a page may be laid out anew
// before the click comes.
func (t *tab) click(selector, text string) {
	t.tb.Helper()
	script := fmt.Sprintf(`(() => {
		if (document.readyState !== "complete" || !performance.getEntriesByName("first-contentful-paint").length) return null;
		const e = [...document.querySelectorAll(%s)].find(e => e.checkVisibility() && e.textContent.includes(%s));
		if (e?.ariaDisabled !== null) return null;
		let b = e.getBoundingClientRect();
		if (b.top < 60 || b.bottom > innerHeight - 60) { // what stands still may move for a frame after others have scrolled
			e.scrollIntoView({ block: "center" });
			b = e.getBoundingClientRect();
		}
		const [x, y] = [b.left + b.width / 2, b.top + b.height / 2];
		if (!e.contains(document.elementFromPoint(x, y))) return null;
		window.waitsForClick = true;
		window.astray = false;
		addEventListener("pointerdown", (event) => window.waitsForClick = window.astray = !e.contains(event.target), { capture: true, once: true });
		return [x, y];
	})()`, quote(selector), quote(text))
	for again := true; again; {
		box := await(t, script, func(box []float64) bool { return len(box) == 2 })
		t.do(chromedp.MouseClickXY(box[0], box[1]))
		again = await(t, `window.waitsForClick === true`, func(bool) bool { return true }) // another page knows nothing of it
	}
}

// types writes into a field in place of what is there, and again if not all of it came to the field: a dialog that has been
// closed gives the focus back a moment after it is gone.
func (t *tab) types(selector, text string) {
	t.tb.Helper()
	t.until(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quote(selector)))
	for range 10 {
		value[bool](t, fmt.Sprintf("(() => { const e = document.querySelector(%s); e.focus(); e.select(); return true; })()", quote(selector)))
		t.do(chromedp.KeyEvent(text))
		if value[bool](t, fmt.Sprintf("document.querySelector(%s)?.value === %s", quote(selector), quote(text))) {
			return
		}
	}
	require.Fail(t.tb, "a field takes nothing", selector)
}

// press presses keys.
func (t *tab) press(keys string, with ...chromedp.KeyOption) {
	t.tb.Helper()
	t.do(chromedp.KeyEvent(keys, with...))
}

// picture leaves a picture of the page in CONSOLE_PICTURES, if that is set.
func (t *tab) picture(name string) {
	t.tb.Helper()
	if folder := os.Getenv("CONSOLE_PICTURES"); folder != "" {
		png, err := chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
		require.NoError(t.tb, err)
		require.NoError(t.tb, os.MkdirAll(folder, 0o755))
		require.NoError(t.tb, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644))
	}
}

// leavePicture shows what the page looked like when a test failed.
func (t *tab) leavePicture() {
	ctx, cancel := context.WithTimeout(t.ctx, 10*time.Second)
	defer cancel()
	if png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot()); err == nil {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("console-%d.png", time.Now().UnixNano()))
		if os.WriteFile(path, png, 0o644) == nil {
			t.tb.Logf("a picture of the page is at %s", path)
		}
	}
}

func quote(text string) string {
	quoted, _ := json.Marshal(text) // a string always has a form
	return string(quoted)
}
