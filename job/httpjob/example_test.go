package httpjob_test

import (
	"fmt"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
)

func ExampleJob() {
	cfg := job.Config{
		Name:               "warmup",
		Cron:               "0 0/5 * * * ?",
		ShardingTotalCount: 2,
		Class:              httpjob.Class,
		Props:              map[string]string{"http.uri": "http://localhost:8080/warm", "http.method": "FETCH"},
	}
	// A scheduler asks this when the job is declared: scheduler.Add(ctx, cfg, httpjob.Job{}).
	_, err := httpjob.Job{}.Configure(cfg)
	fmt.Println(err)
	// Output:
	// Props http.method "FETCH" must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS
}
