package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// A change of settings is described, shown as a difference and planned before it is committed.
func TestEdit(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle/settings"))
	tab.sees("#cron-words", "every 5 minutes")
	tab.sees("#cron-words", "60 min are skipped")

	tab.types(`input[name="cron"]`, "0 bad * * * ?")
	tab.sees("#cron-words", "(field 5)")
	tab.types(`input[name="cron"]`, "0 late bad * * * ?")
	<-s.lateAsked
	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	tab.lacks("#cron-words .bad")
	close(s.late)
	tab.until(`performance.getEntriesByType("resource").some(e => e.name.includes("late+bad") && e.responseEnd > 0)`)
	tab.settled()
	tab.lacks("#cron-words .bad")
	tab.types(`input[name="shardingTotalCount"]`, "1e3")
	require.Equal(t, "1e3", value[string](tab, `document.querySelector("input[name=shardingTotalCount]").value`))
	tab.sees("label", "This is no number")
	tab.until(`document.querySelector("#settings button[type=submit]").ariaDisabled === "true"`)
	tab.types(`input[name="shardingTotalCount"]`, "30")
	tab.click("button", "Undo all")
	const focus = "document.activeElement.textContent"
	require.Equal(t, "Show what would change…", value[string](tab, focus), "the focus is lost")
	tab.lacks(".difference")

	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	tab.sees(".difference del", "0 0/5 * * * ?")
	tab.sees(".difference ins", "0 0/2 * * * ?")
	tab.click("button", "Show what would change")
	tab.sees("dialog .plan", "It fires every 2 minutes")
	tab.picture("dialog-settings")
	tab.click("dialog footer button", "Commit on revision 48190")
	tab.lacks("dialog")
	tab.sees(".commit", "These are the settings of revision 48197")
	require.Equal(t, "Show what would change…", value[string](tab, focus), "the focus is lost")
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Contains(t, s.config, `"cron":"0 0/2 * * * ?"`)
	require.Contains(t, s.config, `"jobClass":"OrdersSettle"`)
}

// Of two who edit at once, the second sees all three versions, chooses, and commits on top of the first.
func TestTwoEditors(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle/settings"))
	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	tab.sees(".difference ins", "0 0/2 * * * ?")
	s.somebodyElseCommits(`"shardingTotalCount":20`, `"shardingTotalCount":24`)
	tab.click("button", "Show what would change")
	tab.sees("dialog.merge", "Somebody else committed meanwhile")
	tab.sees("dialog.merge tr", "0 0/2 * * * ?")
	tab.accessible("three versions")
	tab.picture("dialog-merge")

	tab.press(kb.Escape) // without a choice: what the other one committed is not overwritten the next time either
	tab.lacks("dialog")
	tab.click("button", "Show what would change")
	tab.sees("dialog.merge", "Somebody else committed meanwhile")
	tab.click("dialog.merge footer button", "Go on with these")
	tab.click("dialog footer button", "Commit on revision 48193")
	tab.lacks("dialog")
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Contains(t, s.config, `"cron":"0 0/2 * * * ?","shardingTotalCount":24`)
}

// commitsUnanswered commits another cron, without an answer.
func commitsUnanswered(t *testing.T) *tab {
	t.Helper()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle/settings"))
	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	tab.click("button", "Show what would change")
	tab.sees("dialog .plan", "It fires every 2 minutes")
	s.mu.Lock()
	s.unanswered = true
	s.mu.Unlock()
	tab.click("dialog footer button", "Commit on revision 48190")
	tab.sees("dialog .refusal", "outcome unknown")
	return tab
}

// Who commits and hears no answer is not told that somebody else did.
func TestACommitWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, again := range []func(tab *tab){
		func(tab *tab) { tab.click("dialog button", "Look again") },
		func(tab *tab) {
			tab.click("dialog button", "Cancel")
			tab.lacks("dialog")
			tab.click("button", "Show what would change")
		},
	} {
		tab := commitsUnanswered(t)
		again(tab)
		tab.hears("Your settings were stored")
		tab.lacks("dialog")
		tab.sees(".commit", "These are the settings of revision 48197")
	}
}

// What was changed after a commit that got no answer is not lost, nor taken for stored.
func TestACommitWithoutAnAnswerAndMore(t *testing.T) {
	t.Parallel()
	tab := commitsUnanswered(t)
	tab.click("dialog button", "Cancel")
	tab.lacks("dialog")
	tab.types(`input[name="shardingTotalCount"]`, "7")
	tab.click("button", "Show what would change")
	tab.sees("dialog", "What you sent was stored, and not what you changed since")
	tab.click("dialog footer button", "Go on with these")
	tab.sees(".commit", "shardingTotalCount")
}

// Until the settings are read again after a commit, nobody can type what would be lost.
func TestTheSettingsAreReadAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle/settings"))
	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	tab.click("button", "Show what would change")
	tab.sees("dialog .plan", "It fires every 2 minutes")
	hold := make(chan bool)
	s.hooked(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/config") {
			held(r, hold)
		}
		return false
	})
	tab.click("dialog footer button", "Commit on revision 48190")
	tab.lacks("dialog")
	const still = `document.querySelector("#settings").inert`
	require.True(t, value[bool](tab, still))
	close(hold)
	tab.sees(".commit", "These are the settings of revision 48197")
	tab.until("!" + still)
	tab.types(`input[name="jobParameter"]`, "typed behind it")
	tab.sees(".commit", "typed behind it")
}

// Settings that are stored and cannot be read again are not said to be anybody else's, nor lost.
func TestTheSettingsCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle/settings"))
	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	tab.click("button", "Show what would change")
	tab.sees("dialog .plan", "It fires every 2 minutes")
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/config") {
			return false
		}
		answer(w, 503, object{"title": "away", "status": 503, "detail": "the registry is away"})
		return true
	})
	tab.click("dialog footer button", "Commit on revision 48190")
	tab.hears("Done: Change")
	tab.sees("#notes", "the registry is away")
	s.hooked(nil)
	tab.click("button", "Show what would change")
	tab.hears("Your settings were stored")
	tab.sees(".commit", "These are the settings of revision 48197")
	tab.lacks("dialog")
}

// While the three versions are got together, nobody can type what would be lost, nor ask for them once more.
func TestTheVersionsAreGotTogether(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	hold := make(chan bool)
	s.hooked(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/operations") {
			held(r, hold)
		}
		return false
	})
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle/settings"))
	tab.types(`input[name="cron"]`, "0 0/2 * * * ?")
	s.somebodyElseCommits(`"shardingTotalCount":20`, `"shardingTotalCount":24`)
	tab.click("button", "Show what would change")
	tab.until(`document.querySelector("#settings").inert && !document.querySelector("dialog.deed")`)
	close(hold)
	tab.sees("dialog.merge", "Somebody else committed meanwhile")
	tab.press(kb.Escape)
	tab.lacks("dialog")
	require.Equal(t, "Show what would change…", value[string](tab, "document.activeElement.textContent"), "the focus is lost")
	tab.types(`input[name="jobParameter"]`, "typed behind it")
	tab.sees(".commit", "typed behind it")
}
