package health_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// The report beside an application's own pages: /jobs/live and /jobs/ready for probes, /jobs/cluster for alerts,
// /jobs/ for people.
func Example() {
	s, err := scheduler.New(memory.NewServer().Open("shop"))
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/jobs/", http.StripPrefix("/jobs", health.Handler(s)))
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", mux))
}

// What a probe sees of a process that has just started.
func ExampleHandler() {
	s, err := scheduler.New(memory.NewServer().Open("shop"))
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(health.Handler(s))
	defer server.Close()
	for _, path := range []string{"/live", "/ready"} {
		answer, err := http.Get(server.URL + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		fmt.Print(path, " ", answer.StatusCode, " ", string(body))
	}
	// Output:
	// /live 200 {"ok":true}
	// /ready 200 {"ok":true}
}

// A page of your own, which asks for the verdicts itself.
func ExampleCluster() {
	h := scheduler.Health{ // as Scheduler.Health returns it
		State: scheduler.StateRunning, Session: scheduler.SessionHealth{State: "connected"},
		Jobs: []scheduler.JobHealth{{Job: "orders", Answered: true, Joined: true, Leader: "10.0.0.1@-@7", Unowned: []int{2, 3}}},
	}
	fmt.Println("take part:", health.Ready(h).OK)
	if v := health.Cluster(h); !v.OK {
		fmt.Println("alert:", v.Reasons)
	}
	// Output:
	// take part: true
	// alert: [job "orders": items [2 3] have no owner]
}
