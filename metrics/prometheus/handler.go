package prometheus

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves the metrics of a collector, and those of the process and of Go, for programs that have no registry of
// Prometheus of their own.
func Handler(c *Collector) http.Handler {
	all := prometheus.NewRegistry()
	all.MustRegister(c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{})
}
