package browser

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The timeline shows what happened in shapes that differ, by item and by instance, and stands still if it is told to.
func TestTimeline(t *testing.T) {
	t.Parallel()
	s := newScene(t, 300, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	count := func(selector string) int {
		return value[int](tab, "document.querySelectorAll("+quote(selector)+").length")
	}
	tab.until(`document.querySelectorAll(".label").length === 8`)
	for _, shape := range []string{".span[data-key].success", ".span[data-key].failure .sign", ".span[data-key].running", ".span[data-key].interrupted", ".span[data-key].lost", ".span[data-key] .rerun", ".span[data-key] .late", ".misfire text", ".handover", ".moved", ".gap", ".plot .next", ".now"} {
		require.NotZero(t, count(shape), "nothing is drawn as %s", shape)
	}

	tab.click(".segments label", "Instances")
	tab.until(`document.querySelectorAll(".label").length === 3`)
	tab.sees(".label", "10.0.0.1 ★")
	require.NotZero(t, count(".handover"))
	tab.settled()
	tab.picture("instances")

	tab.click("button", "More")
	tab.sees("#more", "Remove the job")
	tab.picture("more")
	tab.click("#more button", "Remove the job")
	tab.sees("dialog .plan", "item 2")
	require.Equal(t, "true", value[string](tab, `document.querySelector("dialog footer .danger").ariaDisabled`), "a job can be removed without its name")
	tab.types("dialog label code + *, dialog label:has(code) input", "orders-settle")
	tab.until(`document.querySelector("dialog footer .danger").ariaDisabled === null`)
	tab.click("dialog button", "Cancel")

	tab.click("#pause", "Pause")
	tab.sees("#pause", "go on")
	value[int](tab, `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(1))))`)
	still := value[string](tab, `document.querySelector(".span[data-key]").getAttribute("aria-label") + document.querySelector(".span[data-key] .body").getAttribute("d")`)
	tab.until(`performance.now() > (window.since ??= performance.now()) + 1500`)
	require.Equal(t, still, value[string](tab, `document.querySelector(".span[data-key]").getAttribute("aria-label") + document.querySelector(".span[data-key] .body").getAttribute("d")`))
}

// A span that began before what is shown has its mark, and what is told of it, where it can be seen.
func TestASpanHalfOutOfView(t *testing.T) {
	t.Parallel()
	s := newScene(t, 300, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.until(`document.querySelector(".span[data-key].failure") !== null`)
	key := value[string](tab, `(() => {
		window.lanes = document.querySelector(".lanes");
		const failed = lanes.visible.filter(p => p.span.outcome === "failure").sort((a, b) => (b.end - b.begin) - (a.end - a.begin))[0];
		window.ofIt = rest => document.querySelector("[data-key='" + CSS.escape(failed.key) + "']" + rest)?.getBoundingClientRect();
		window.cut = () => { // only its last quarter is in view
			const now = lanes.now();
			lanes.view.stretch = now - (failed.begin + 3 * failed.end) / 4;
			lanes.draw(now);
		};
		return failed.key;
	})()`)
	require.NotEmpty(t, key)
	require.True(t, value[bool](tab, `(cut(), ofIt(" .body").left < document.querySelector(".plot").getBoundingClientRect().left)`), "it is half out of view")
	require.True(t, value[bool](tab, `(cut(), ofIt(" .sign").right > document.querySelector(".plot").getBoundingClientRect().left)`), "its mark can be seen")
	tab.until(`(cut(), ofIt(""), lanes.point(lanes.element(` + quote(key) + `)), document.querySelector(".tip").getBoundingClientRect().left >= document.querySelector(".plot").getBoundingClientRect().left - 8)`)
}

// Above a thousand executions in sight a lane is one bar, and a page draws it with ease.
func TestCrowdedTimeline(t *testing.T) {
	t.Parallel()
	s := newScene(t, 300, "")
	tab := look(t)
	tab.open(s.shop("jobs/batch-00010"))
	tab.until(`document.querySelectorAll(".crowd").length > 10`)
	require.Zero(t, value[int](tab, `document.querySelectorAll(".span[data-key]").length`))
	require.Regexp(t, `^Item \d+: \d+ executions, \d+ failed or lost$`, value[string](tab, `document.querySelector(".crowd").getAttribute("aria-label")`))
	require.Less(t, value[int](tab, `document.querySelectorAll(".plot *").length`), 400)
}
