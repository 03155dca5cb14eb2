module github.com/elasticron/elasticron/internal/docs/gocron

go 1.26.0

replace github.com/elasticron/elasticron => ../../..

require (
	github.com/elasticron/elasticron v0.0.0
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	github.com/tidwall/btree v1.8.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
