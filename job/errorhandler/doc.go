// Package errorhandler finds the handler that hears of a job's failures, by the name that the job's configuration
// gives in [job.Config.ErrorHandler].
//
//	handlers := errorhandler.Default() // LOG, IGNORE, THROW
//	err := handlers.Register(email.Name, email.New)
//	s, err := scheduler.New(registry, scheduler.WithErrorHandlers(handlers))
//	_, err = s.Add(ctx, job.Config{
//		Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 4,
//		ErrorHandler: email.Name,
//		Props:        map[string]string{"email.host": "mail", "email.password": "env:SMTP_PASSWORD", …},
//	}, code)
//
// Every process knows three handlers:
//
//	LOG     logs the failure, with the stack of a panic; it is also the handler if the name is empty
//	IGNORE  does nothing
//	THROW   fails the round: the scheduler cancels items of the round that still run in this process
//
// The others need a library or an address. They are packages of their own below this one, and you register those
// that you want: webhook, email, wechat and dingtalk. A handler reads its settings from [job.Config.Props], under
// the names that ElasticJob 3.x gives them.
//
// # A handler of your own
//
// Implement [job.ErrorHandler], whose documentation says what a handler may do, and register a [Factory] for it.
// [Describe] writes the text of a message to people. The scheduler bounds the time that a handler may take, and the
// number of calls, and records the failure before it calls the handler.
package errorhandler
