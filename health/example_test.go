package health_test

import (
	"log"
	"net/http"

	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// The report beside an application's own pages: /jobs/live and /jobs/ready for whoever restarts and
// routes, /jobs/ for people.
func Example() {
	s, err := scheduler.New(memory.NewServer().Open("shop"))
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/jobs/", http.StripPrefix("/jobs", health.Handler(s)))
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", mux))
}
