module github.com/elasticron/elasticron/console/browser

go 1.26.0

replace github.com/elasticron/elasticron => ../..

require (
	github.com/chromedp/cdproto v0.159.2
	github.com/chromedp/chromedp v0.23.0
	github.com/elasticron/elasticron v0.0.0
	github.com/stretchr/testify v1.12.1
)
