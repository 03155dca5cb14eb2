package browser

import (
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
