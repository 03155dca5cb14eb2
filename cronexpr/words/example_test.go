package words_test

import (
	"fmt"

	"github.com/elasticron/elasticron/cronexpr/words"
)

func ExampleDescribe() {
	for _, expr := range []string{"0 0/2 * * * ?", "0 30 2 ? * MON-FRI", "@every 90s", "0 0 25 * * ?"} {
		text, err := words.Describe(expr)
		fmt.Println(text, err)
	}
	// Output:
	// Every 2 minutes. <nil>
	// At 02:30, from Monday to Friday. <nil>
	// Every 1m30s, counted from 1970-01-01 00:00 UTC. <nil>
	//  cron "0 0 25 * * ?": hour field "25": 25 is above 23; allowed are 0-23, lists, ranges, steps and *
}
