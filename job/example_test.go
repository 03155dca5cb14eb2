package job_test

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/job"
)

// A job that works on the orders of one city per sharding item.
func Example() {
	cfg := job.Config{
		Name:                   "orders",
		Cron:                   "0 0/5 * * * ?",
		ShardingTotalCount:     3,
		ShardingItemParameters: "0=Berlin,1=Oslo,2=Rome",
		Failover:               true,
		TimeZone:               "Europe/Berlin",
	}
	fmt.Println(cfg.Validate())

	index := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		_, err := fmt.Printf("item %d of %d: %s\n", sc.Item, sc.TotalCount, sc.ItemParameter)
		return err
	})
	// A scheduler calls it like this:
	_ = index(context.Background(), job.ShardingContext{Item: 1, TotalCount: 3, ItemParameter: "Oslo"})
	// Output:
	// <nil>
	// item 1 of 3: Oslo
}

func ExampleConfig_Validate() {
	cfg := job.Config{Name: "orders/eu", Cron: "0 0/5 * * * ?"}
	fmt.Println(cfg.Validate())
	// Output:
	// Name "orders/eu" must not contain "/"
	// ShardingTotalCount "0" must be between 1 and 100000
}

func ExampleShardingContext_JSON() {
	sc := job.ShardingContext{
		JobName: "orders", TaskID: "orders@-@0@-@READY@-@10.0.0.1@-@5",
		Item: 0, ItemParameter: "A", TotalCount: 3, JobParameter: "limit=5",
	}
	fmt.Println(sc.JSON())
	// Output:
	// {"jobName":"orders","taskId":"orders@-@0@-@READY@-@10.0.0.1@-@5","shardingTotalCount":3,"jobParameter":"limit\u003d5","shardingItem":0,"shardingParameter":"A"}
}
