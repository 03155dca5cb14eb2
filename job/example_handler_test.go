package job_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/elasticron/elasticron/job"
)

// fetch is the code of jobs that call an address, one for each job: it reads the address from the job's
// settings, and its key from wherever the settings say.
type fetch struct{}

func (fetch) Configure(cfg job.Config) (job.HandlerFunc, error) {
	p := job.ReadProps(cfg.Props)
	address, key := p.WebAddress("fetch.address"), p.Required("fetch.key")
	pause := p.Milliseconds("fetch.pause", 100*time.Millisecond)
	p.Only("fetch.", "fetch.address", "fetch.key", "fetch.pause")
	if err := p.Err(); err != nil {
		return nil, err // names every fault; the scheduler refuses the declaration
	}
	return func(ctx context.Context, sc job.ShardingContext) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return errors.New(p.Redact(err.Error())) // errors are stored
		}
		request.Header.Set("X-Key", key)
		fmt.Println(sc.Item, request.Method, request.URL, len(request.Header.Get("X-Key")), pause)
		return nil
	}, nil
}

// A kind of job of your own, which reads its settings and keeps its secret out of them.
func ExampleHandler() {
	if err := os.Setenv("FETCH_KEY", "swordfish"); err != nil { // the deployment does this
		fmt.Println(err)
		return
	}
	cfg := job.Config{
		Name: "fetch", Cron: "@hourly", ShardingTotalCount: 1,
		Props: map[string]string{"fetch.address": "https://example.org/orders", "fetch.key": "env:FETCH_KEY"},
	}
	run, err := fetch{}.Configure(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run(context.Background(), job.ShardingContext{Item: 0, TotalCount: 1}))

	cfg.Props = map[string]string{"fetch.address": "example.org", "fetch.key": "env:FETCH_KYE"}
	_, err = fetch{}.Configure(cfg)
	fmt.Println(err)
	// Output:
	// 0 GET https://example.org/orders 9 100ms
	// <nil>
	// Props fetch.address "example.org" must be an address such as https://example.org/path
	// Props fetch.key "env:FETCH_KYE" must name a variable or a file that this process can read: it is not set, or empty
}
