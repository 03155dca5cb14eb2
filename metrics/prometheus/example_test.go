package prometheus_test

import (
	"log"
	"net/http"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// One collector for each scheduler, registered like any other.
func Example() {
	collector := prometheus.New(prometheus.WithItems(16))
	client.MustRegister(collector)
	if _, err := scheduler.New(memory.NewServer().Open("shop"), scheduler.WithObserver(collector)); err != nil {
		log.Fatal(err)
	}
	http.Handle("/metrics", promhttp.Handler())
	log.Fatal(http.ListenAndServe("127.0.0.1:9090", nil))
}
