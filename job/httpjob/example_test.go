package httpjob_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
)

// A job that posts to an endpoint, with a key that is in no configuration.
func Example() {
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.Method, r.URL.Path, string(body), len(r.Header.Get("X-Key")))
	}))
	defer endpoint.Close()
	if err := os.Setenv("WARMUP_KEY", "swordfish"); err != nil { // the deployment does this
		fmt.Println(err)
		return
	}
	cfg := job.Config{
		Name: "warmup", Class: httpjob.Class, Cron: "0 0/5 * * * ?", ShardingTotalCount: 2,
		Props: map[string]string{
			"http.uri": endpoint.URL + "/warm", "http.method": "POST", "http.data": `{"warm":true}`,
			"http.header.X-Key": "env:WARMUP_KEY", "http.retries": "3",
		},
	}
	// A scheduler does the rest: s.Add(ctx, cfg, httpjob.Job{}).
	call, err := httpjob.Job{}.Configure(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(call(context.Background(), job.ShardingContext{JobName: "warmup", Item: 1, TotalCount: 2}))
	// Output:
	// POST /warm {"warm":true} 9
	// <nil>
}

// Wrong settings are found when the job is declared.
func ExampleJob_Configure() {
	cfg := job.Config{
		Name:               "warmup",
		Cron:               "0 0/5 * * * ?",
		ShardingTotalCount: 2,
		Class:              httpjob.Class,
		Props:              map[string]string{"http.uri": "http://localhost:8080/warm", "http.method": "FETCH"},
	}
	_, err := httpjob.Job{}.Configure(cfg)
	fmt.Println(err)
	// Output:
	// Props http.method "FETCH" must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS
}
