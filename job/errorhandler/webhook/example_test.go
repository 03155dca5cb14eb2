package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/webhook"
)

// A job whose failures are posted to an address.
func Example() {
	address := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(string(body))
	}))
	defer address.Close()

	handlers := errorhandler.Default()
	if err := handlers.Register(webhook.Name, webhook.New); err != nil {
		fmt.Println(err)
		return
	}
	// A scheduler does the rest: scheduler.New(reg, scheduler.WithErrorHandlers(handlers)).
	handler, err := handlers.New(job.Config{
		Name: "orders", ErrorHandler: webhook.Name, Props: map[string]string{"webhook.url": address.URL},
	}, slog.Default())
	if err != nil {
		fmt.Println(err)
		return
	}
	failed := job.ShardingContext{TaskID: "orders@-@2@-@READY@-@10.0.0.1@-@5", Item: 2, TotalCount: 4, Source: job.Manual}
	fmt.Println(handler.HandleError(context.Background(), "orders", failed, errors.New("out of stock")))
	// Output:
	// {"job":"orders","taskId":"orders@-@2@-@READY@-@10.0.0.1@-@5","item":2,"totalCount":4,"source":"manual","error":"out of stock"}
	// <nil>
}
