package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/operate"
)

func listJobs() *listing {
	return &listing{
		name: "jobs", aliases: []string{"job", "j"}, argument: "JOB",
		about: `Get jobs lists jobs: how many items they have and how many run, how many instances take
part, when they fire next, and how the execution that began last has ended: of several that
began together, the one that went worst.`,
		example: `  elasticron get jobs
  elasticron get jobs --match 'orders*' -o wide
  elasticron get jobs --status overdue,waiting,paused -o name`,
		header: []string{"NAME", "STATUS", "ITEMS", "RUN", "INSTANCES", "NEXT", "LAST"},
		wide:   []string{"CRON", "ZONE", "LEADER", "REASON"},
		words:  operate.WordsOfJobs(),
		rows: func(ns *operate.Namespace, want selection) (all []listed) {
			for _, r := range ns.Jobs() {
				if want.ofJob(r.Job) {
					all = append(all, jobListed(r, ns.Time()))
				}
			}
			return all
		},
	}
}

func jobListed(r operate.JobRow, now time.Time) listed {
	run := strconv.Itoa(r.RunningItems)
	if !r.Recorded {
		run = none
	}
	zone := r.TimeZone
	if zone == "" {
		zone = "UTC"
	}
	return listed{
		name: "job/" + r.Job, own: r.Job, status: statusWords(r.Shown(), r.Status, r.Reasons), value: r,
		cells: []string{
			r.Job, r.Shown(), strconv.Itoa(r.Items), run, strconv.Itoa(r.Instances), nextOf(r, now), lastOf(r, now),
			orDash(r.Cron), zone, orDash(r.Leader), orDash(reasonText(r.Reasons)),
		},
	}
}

func listItems() *listing {
	return &listing{
		name: "items", aliases: []string{"item"}, argument: "JOB",
		about: `Get items lists the sharding items of a job, or of all jobs: who owns them, and what became
of their last execution.`,
		example: `  elasticron get items orders
  elasticron get items --status overdue,waiting`,
		header: []string{"JOB", "ITEM", "STATUS", "SERVER", "LAST", "TOOK", "SUCCESS", "FAILED", "LOST"},
		wide:   []string{"OWNER", "LAST FIRE", "TOKEN", "INTERRUPTED", "REASON"},
		words:  operate.WordsOfItems(),
		rows: func(ns *operate.Namespace, want selection) (all []listed) {
			for _, job := range ns.Names() {
				if !want.ofJob(job) {
					continue
				}
				for _, r := range ns.Items(job) {
					all = append(all, itemListed(r, ns.Time()))
				}
			}
			return all
		},
	}
}

func itemListed(r operate.ItemRow, now time.Time) listed {
	took, token := none, none
	if r.Last != nil {
		took = brief(r.Last.Took(now))
		token = tokenText(r.Last.Token)
	}
	return listed{
		name: fmt.Sprintf("item/%s/%d", r.Job, r.Item), own: r.Job, status: statusWords(r.Shown(), r.Status, r.Reasons), value: r,
		cells: []string{
			r.Job, strconv.Itoa(r.Item), r.Shown(), orDash(r.Server), outcomeOf(r.Last, now), took,
			count(r.Counts.Success), count(r.Counts.Failure), count(r.Counts.Lost),
			orDash(r.Owner), instant(r.LastFire), token, count(r.Counts.Interrupted), orDash(reasonText(r.Reasons)),
		},
	}
}

func listExecutions() *listing {
	return &listing{
		name: "executions", aliases: []string{"execution", "exec"}, argument: "JOB", gone: goneKept,
		about: `Get executions lists the last two executions of each item, which is what the registry keeps.
A history store keeps all of them; elasticron logs shows what they wrote. --status looks at the
outcome: running, success, failure, interrupted or lost.`,
		example: `  elasticron get executions orders
  elasticron get executions --status failure,lost -o wide`,
		header: []string{"JOB", "ITEM", "OUTCOME", "BEGIN", "TOOK", "SOURCE", "ERROR"},
		wide:   []string{"FIRE", "INSTANCE", "TOKEN", "ROUND"},
		words:  operate.Outcomes(),
		rows: func(ns *operate.Namespace, want selection) (all []listed) {
			for _, job := range ns.Names() {
				if !want.ofJob(job) {
					continue
				}
				for _, r := range ns.Executions(job) {
					all = append(all, executionListed(r, ns.Time()))
				}
			}
			return all
		},
	}
}

func executionListed(r operate.ExecutionRow, now time.Time) listed {
	return listed{
		name: fmt.Sprintf("execution/%s/%d/%s", r.Job, r.Item, r.Begin.UTC().Format(time.RFC3339Nano)), own: r.Job,
		status: []string{r.Outcome}, value: r,
		cells: []string{
			r.Job, strconv.Itoa(r.Item), r.Outcome, instant(r.Begin), brief(r.Took(now)), string(r.Source), orDash(r.Error),
			instant(r.Fire), r.Instance, tokenText(r.Token), orDash(r.Round),
		},
	}
}

func listInstances() *listing {
	return &listing{
		name: "instances", aliases: []string{"instance"}, argument: "INSTANCE", gone: goneAlone,
		about: `Get instances lists the processes that take part in jobs, and those that have left and still run
something: how many jobs, how many they lead, and how many items they own and run.`,
		example: `  elasticron get instances
  elasticron get instances --match '10.0.0.*'`,
		header: []string{"NAME", "STATUS", "JOBS", "LEADS", "ITEMS", "RUN"},
		wide:   []string{"SERVER", "KIND", "REASON"},
		words:  operate.WordsOfInstances(),
		rows: func(ns *operate.Namespace, want selection) (all []listed) {
			for _, r := range ns.Instances() {
				if !want.ofJob(r.Instance) {
					continue
				}
				kind := "go"
				if r.Java {
					kind = "java"
				}
				all = append(all, listed{
					name: "instance/" + r.Instance, own: r.Instance, status: statusWords(r.Shown(), r.Status, r.Reasons), value: r,
					cells: []string{
						r.Instance, r.Shown(), strconv.Itoa(len(r.Jobs)), strconv.Itoa(len(r.Leads)), strconv.Itoa(r.Items), strconv.Itoa(r.Running),
						r.Server, kind, orDash(reasonText(r.Reasons)),
					},
				})
			}
			return all
		},
	}
}

func listServers() *listing {
	return &listing{
		name: "servers", aliases: []string{"server"}, argument: "IP", gone: goneAlone,
		about: `Get servers lists the hosts on which instances live, and those of which an operator said
something: in how many jobs they have a part, and in how many of these they are disabled.`,
		example: `  elasticron get servers
  elasticron get servers --status disabled,servers_disabled`,
		header: []string{"NAME", "STATUS", "INSTANCES", "JOBS", "DISABLED"},
		wide:   []string{"REASON"},
		words:  operate.WordsOfServers(),
		rows: func(ns *operate.Namespace, want selection) (all []listed) {
			for _, r := range ns.Servers() {
				if !want.ofJob(r.Server) {
					continue
				}
				all = append(all, listed{
					name: "server/" + r.Server, own: r.Server, status: statusWords(r.Shown(), r.Status, r.Reasons), value: r,
					cells: []string{
						r.Server, r.Shown(), strconv.Itoa(len(r.Instances)), strconv.Itoa(len(r.Jobs)), strconv.Itoa(len(r.Disabled)),
						orDash(reasonText(r.Reasons)),
					},
				})
			}
			return all
		},
	}
}

// statusWords are what --status finds something by: what the list shows, Java's word and every reason.
func statusWords(shown string, status operate.Status, reasons []operate.Reason) []string {
	all := []string{shown, string(status)}
	for _, r := range reasons {
		all = append(all, string(r.Word))
	}
	return slices.Compact(all)
}

func reasonText(reasons []operate.Reason) string {
	var all []string
	for _, r := range reasons {
		all = append(all, r.Text)
	}
	return strings.Join(all, "; ")
}

// nextOf says when a job fires next, or how late it is.
func nextOf(r operate.JobRow, now time.Time) string {
	switch {
	case !r.OverdueSince.IsZero():
		return whole(now.Sub(r.OverdueSince)) + " late"
	case r.Next.IsZero():
		return none
	case r.Next.After(now):
		return "in " + whole(r.Next.Sub(now))
	default:
		return "now"
	}
}

// lastOf says how the execution of a job that began last has ended, or the worst of those that began together.
func lastOf(r operate.JobRow, now time.Time) string {
	if !r.Recorded {
		return "not recorded"
	}
	return outcomeOf(r.Last, now)
}

func outcomeOf(e *operate.ExecutionRow, now time.Time) string {
	switch {
	case e == nil:
		return none
	case e.Outcome == operate.OutcomeRunning:
		return "since " + whole(now.Sub(e.Begin))
	}
	word := e.Outcome
	switch word {
	case "success":
		word = "ok"
	case "failure":
		word = "failed"
	}
	text := word + " " + whole(now.Sub(e.End)) + " ago"
	if e.Error != "" {
		text += ": " + shortened(e.Error)
	}
	return text
}

// shortened leaves out the middle of what a list shows of an error; -o json has all of it. The end says why: in front is the
// path of a script, or an address.
func shortened(text string) string {
	const most, beginning = 40, 12
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:beginning]) + "..." + string(runes[len(runes)-(most-beginning-3):])
}

func tokenText(token int64) string {
	if token == 0 {
		return none
	}
	return strconv.FormatInt(token, 10)
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

func orDash(text string) string {
	if text == "" {
		return none
	}
	return text
}
