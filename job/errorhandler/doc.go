// Package errorhandler has the error handlers that every process knows, and the registry in which
// others are found by the name that a job's configuration gives, [job.Config.ErrorHandler].
//
//	LOG     logs the failure, with the stack of a panic; what an empty name means
//	IGNORE  does nothing
//	THROW   fails the round: items of it that still run in this process are cancelled
//
// The others need a library or an address, are packages of their own below this one, and are
// registered by who wants them: webhook, email, wechat and dingtalk. A handler reads its settings
// from [job.Config.Props], under the names that ElasticJob 3.x gives them.
//
//	handlers := errorhandler.Default()
//	err := handlers.Register(email.Name, email.New)
//	s, err := scheduler.New(registry, scheduler.WithErrorHandlers(handlers))
//
// What a handler may and may not do is the contract of [job.ErrorHandler]; that it is bounded in time
// and number and never holds up what is recorded is the scheduler's part.
package errorhandler
