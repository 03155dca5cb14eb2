package browser

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A whole evening at the console: log in, see what runs, trigger, see an instance die and another take over, lose the
// registry and get it back.
func TestACluster(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	anna, mail := look(t), look(t)
	a := join(t, s.server.Endpoints()[0], "10.0.0.1@-@7001-a")
	b := join(t, s.server.Endpoints()[0], "10.0.0.2@-@7002-b")

	anna.open(s.shop("jobs/orders-settle"))
	anna.types(`input[name="name"]`, "anna")
	anna.types(`input[name="password"]`, "wrong")
	anna.click("button", "Log in")
	anna.sees(".reason", "do not match")
	anna.types(`input[name="password"]`, password)
	anna.click("button", "Log in")
	anna.sees("h1", "orders-settle") // where she wanted to go

	// What runs appears and ends without a reload.
	anna.live()
	anna.until(`document.querySelector(".span[data-key].running")`)
	anna.until(`document.querySelectorAll(".span[data-key].success").length >= 4`)
	anna.sees("#instances", "7001-a")
	anna.sees("#instances", "7002-b")

	// A trigger is acknowledged item by item.
	s.logIn(mail, "anna", "jobs/orders-mail")
	mail.click("#deeds button", "Trigger")
	mail.sees("dialog .plan", "What will happen")
	mail.types(`dialog input[name="reason"]`, "a customer asked")
	mail.click("dialog footer button", "Trigger")
	mail.hears("Trigger answered")
	mail.until(`document.querySelectorAll(".span[data-key].success .manual").length === 3`)
	mail.open(s.shop("audit"))
	mail.sees("#found", "a customer asked")

	// A process dies. Its items go to the other one, and what it ran is run again there.
	gone, stays := a, b
	gone.killWhileItRuns(t, "orders-settle")
	anna.until(`[...document.querySelectorAll("#items .owner")].every(e => e.querySelector("span").title === ` + quote(stays.id) + `)`)
	anna.until(`document.querySelector(".span[data-key] .rerun")`)
	anna.sees("#log .failover", "item")
	anna.settled()
	anna.picture("failover")

	// The registry is away: nothing old is shown as live.
	s.server.Stop()
	anna.sees("#banner", "not connected")
	require.NoError(t, s.server.Restart(t.Context()))
	anna.lacks("#banner")
	anna.until(`document.querySelector(".span[data-key].running:not(.unsure)")`)
}

// A viewer sees the same and is offered nothing, and the server refuses what the page does not offer.
func TestAViewer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	join(t, s.server.Endpoints()[0], "10.0.0.1@-@7001-a")
	vera := look(t)
	s.logIn(vera, "vera", "jobs/stock-count")
	vera.sees("#items", "exit 3: no such table: <b>stock</b>")
	require.Zero(t, value[int](vera, `document.querySelectorAll("main .danger, main button.primary").length`))
	status := value[int](vera, `fetch("api/v1/namespaces/shop/jobs/stock-count/disable", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then(r => r.status)`)
	require.Equal(t, 403, status)
	vera.click("button", "Log out")
	vera.sees("h1", "Elasticron")
	vera.sees("button", "Log in")
}

// The page of a job that somebody may not read says so, and their other pages stay live.
func TestAJobThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	join(t, s.server.Endpoints()[0], "10.0.0.1@-@7001-a")
	otto := look(t)
	s.logIn(otto, "otto", "jobs")
	otto.live()
	other := otto.beside()
	other.open(s.shop("jobs/stock-count"))
	other.sees("#state", "you may not read job stock-count")
	otto.open(s.shop("jobs/orders-mail")) // which asks for the stream anew
	otto.live()
	other.sees("#state", "you may not read job stock-count")
}
